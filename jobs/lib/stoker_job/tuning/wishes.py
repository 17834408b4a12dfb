"""What a job asks for, checked whole before anything heavy is imported."""

from dataclasses import dataclass
from typing import Any

from ..adapters import adapters_asked
from ..inputs import Inputs
from ..problems import Refused
from ..sections import full_texts, section
from ..weights_load import load_asked
from . import fields


@dataclass(frozen=True)
class Wishes:
    """The sections of one job by name; `kind` is the type of the job, `own` what only this type has and its weights depend on."""

    kind: str
    source: Inputs
    transformers: Inputs
    adapters: list[tuple[str, Inputs]]
    load: Inputs | None
    training: Inputs
    is_on_cpu: bool
    own: dict[str, Any]


def read_wishes(kind: str, inputs: Inputs, own: dict[str, Any] | None = None) -> Wishes:
    """The sections all of these programs have; data is read beside."""
    model = inputs["model"]
    parts = section("model", {"source": {"identifier": model}} if isinstance(model, str) else model, fields.MODEL)
    source = section("model.source", parts["source"], fields.SOURCE)
    how = section("model.transformers", parts["transformers"], fields.TRANSFORMERS)
    training = section("training", inputs["training"], fields.TRAINING[kind])
    _compare(kind, how, training)
    is_on_cpu = bool(inputs["enforce_cpu"]) or how["device_map"] == "cpu"
    return Wishes(kind, source, how, _adapters(parts["adapters"]), load_asked(inputs["checkpoint"]), training, is_on_cpu, own or {})


def read_lora(inputs: Inputs) -> dict[str, Any]:
    """LoRA by its documented names; `target_modules` is a list of names, or all-linear."""
    lora = section("lora", inputs["lora"], fields.LORA)
    wanted = lora["target_modules"] if lora["target_modules"] is not None else ["q_proj", "k_proj", "v_proj", "o_proj"]
    return {**lora, "target_modules": wanted if wanted == "all-linear" else full_texts("lora.target_modules", wanted)}


def _adapters(given: Any) -> list[tuple[str, Inputs]]:
    adapters = adapters_asked(given)
    for path, one in adapters:
        if one["apply"] != "merge":
            raise Refused(f"{path}.apply is {one['apply']}, training starts from merged weights: say apply: merge")
    return adapters


def _compare(kind: str, how: Inputs, training: Inputs) -> None:
    if training.get("fp16") and training["bf16"]:
        raise Refused("training.fp16 and training.bf16 are both true, one of them can be")
    if training.get("fp16") and how["dtype"] == "float16":
        raise Refused("training.fp16 is true and model.transformers.dtype is float16: mixed precision needs weights in float32")
    if not how["low_cpu_mem_usage"]:
        raise Refused("model.transformers.low_cpu_mem_usage is false, transformers 5 always loads weights without a second copy")
    bits = [name for name in ("load_in_8bit", "load_in_4bit") if how[name]]
    if bits and kind != "lora_sft":
        raise Refused(f"model.transformers.{bits[0]} is true, {kind} trains all weights and cannot train rounded ones: lora_sft can")
    if len(bits) == 2:
        raise Refused("model.transformers has load_in_8bit and load_in_4bit, one of them can be")
