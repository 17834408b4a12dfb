"""The arguments of a transformers Trainer, from what the job says."""

import importlib.util
from typing import Any

import torch

from ..inputs import Inputs
from ..problems import Failed
from ..ranks import Ranks
from . import kept
from .language_model import most_tokens
from .wishes import Wishes

_SAME_NAME = (
    "num_train_epochs", "gradient_accumulation_steps", "learning_rate", "warmup_steps", "logging_steps", "save_steps", "save_strategy", "gradient_checkpointing",
    "fp16", "bf16", "seed",
)  # fmt: skip


def settings_of(wishes: Wishes, model: Any, ranks: Ranks) -> dict[str, Any]:
    """What trl would turn on by itself is off unless the job wants it."""
    wanted, is_on_cpu = wishes.training, ranks.device.type == "cpu"
    if wanted["fp16"] and is_on_cpu:
        raise Failed("training.fp16 is true, it needs a GPU; on a processor bf16 is possible")
    return {
        **{name: wanted[name] for name in _SAME_NAME},
        "output_dir": str(kept.scratch()),
        "per_device_train_batch_size": wanted["batch_size"],
        "max_length": most_tokens(model, wanted["max_seq_length"]),
        "deepspeed": _deepspeed(wanted, ranks),
        "ddp_find_unused_parameters": bool(wanted["ddp_find_unused_parameters"]),
        "use_cpu": is_on_cpu,
        "dataloader_pin_memory": not is_on_cpu,
        "logging_nan_inf_filter": False,
        "disable_tqdm": True,
        "report_to": "none",
    }


def _deepspeed(wanted: Inputs, ranks: Ranks) -> Any:
    """As the job says; by itself only where it is wanted, installed and of use: several ranks with a GPU each."""
    is_there = importlib.util.find_spec("deepspeed") is not None
    given = wanted["deepspeed"]
    if given is not None and not is_there:
        raise Failed("training.deepspeed is given and the Python package deepspeed is not installed here: add it to environment.requirements of the job")
    if given is not None or not (wanted["auto_deepspeed"] and is_there and ranks.count > 1 and torch.cuda.is_available()):
        return given
    sizes = {name: "auto" for name in ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")}
    return {"zero_optimization": {"stage": wanted["auto_deepspeed_stage"]}, "bf16": {"enabled": "auto"}, "fp16": {"enabled": "auto"}, **sizes}
