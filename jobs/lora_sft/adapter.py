"""The adapter that is trained: a new one, or the one to go on with."""

from typing import Any

from stoker_job.problems import Failed
from stoker_job.tuning.language_model import Started


def with_adapter(started: Started, lora: dict[str, Any], seed: int) -> Any:
    """The model with trainable LoRA layers; everything else in it stays as it is. The adapter names its base as the job did."""
    model = _wrapped(started, lora, seed)
    model.peft_config["default"].base_model_name_or_path = started.name
    return model


def _wrapped(started: Started, lora: dict[str, Any], seed: int) -> Any:
    import peft
    import transformers

    transformers.set_seed(seed)
    if getattr(started.model, "quantization_method", None) is not None:
        started.model = peft.prepare_model_for_kbit_training(started.model)
    if started.adapter is not None:
        return peft.PeftModel.from_pretrained(started.model, str(started.adapter), is_trainable=True)
    config = peft.LoraConfig(
        r=lora["r"], lora_alpha=lora["alpha"], lora_dropout=lora["dropout"], bias=lora["bias"], target_modules=lora["target_modules"],
        task_type=lora["task_type"], use_rslora=lora["use_rslora"],
    )  # fmt: skip
    try:
        return peft.get_peft_model(started.model, config)
    except ValueError as error:
        raise Failed(f"lora.target_modules is {', '.join(lora['target_modules'])}, this model has {', '.join(_linear(started.model))}") from error


def _linear(model: Any) -> list[str]:
    import torch

    return sorted({name.rsplit(".", 1)[-1] for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)})
