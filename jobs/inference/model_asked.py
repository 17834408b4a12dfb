"""Which model a template asks for, and how it is to be loaded."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stoker_job.adapters import adapters_asked
from stoker_job.inputs import Inputs
from stoker_job.problems import Refused
from stoker_job.sections import section
from stoker_job.weights_load import load_asked

_TEXT: dict[str, Any] = {"type": "string", "default": None}
_FLAG: dict[str, Any] = {"type": "boolean", "default": False}
_ANY: dict[str, Any] = {"type": "any", "default": None}
_MODEL = {"source": _ANY, "vllm": _ANY, "transformers": _ANY, "adapters": _ANY}
_SOURCE = {"type": _TEXT, "identifier": _TEXT, "revision": _TEXT, "trust_remote_code": _FLAG, "sha256": _TEXT}
_VLLM: dict[str, dict[str, Any]] = {
    "tensor_parallel_size": {"type": "integer", "default": 0, "min": 0},
    "gpu_memory_utilization": {"type": "number", "default": 0.9, "min": 0.05, "max": 1},
    "max_model_len": {"type": "integer", "default": None, "min": 1},
    "dtype": {"type": "string", "default": "auto"},
    "trust_remote_code": _FLAG,
    "download_dir": _TEXT,
}
_TRANSFORMERS: dict[str, dict[str, Any]] = {
    "device_map": {"type": "string", "default": None, "choices": ["auto", "balanced", "cuda", "cpu"]},
    "dtype": {"type": "string", "default": "auto", "choices": ["auto", "float32", "float16", "bfloat16"]},
    "trust_remote_code": _FLAG,
    "low_cpu_mem_usage": {"type": "boolean", "default": True},
    "load_in_8bit": _FLAG,
    "load_in_4bit": _FLAG,
    "use_flash_attention_2": _FLAG,
}


@dataclass(frozen=True)
class ModelAsked:
    """`identifier` None is the job's model at MODEL_PATH; `key` is the same for what the same loaded model can answer."""

    identifier: str | None
    sha256: str | None
    revision: str | None
    trusts_code: bool
    vllm: Inputs
    transformers: Inputs
    adapters: tuple[tuple[str, Inputs], ...]
    checkpoint: Inputs | None
    enforce_cpu: bool
    key: str


def model_asked(given: Any, sha256: str | None = None, checkpoint: Any = None, enforce_cpu: bool = False) -> ModelAsked:
    """`model` of a template; a text alone is its identifier."""
    parts = section("model", {"source": given} if isinstance(given, str) else given, _MODEL)
    named = {"identifier": parts["source"]} if isinstance(parts["source"], str) else parts["source"]
    source = section("model.source", named, _SOURCE)
    if sha256 and source["sha256"] and sha256 != source["sha256"]:
        raise Refused(f"model_sha256 is {sha256} and model.source.sha256 is {source['sha256']}, one of them is wrong")
    engines = _inside(section("model.vllm", parts["vllm"], _VLLM)), section("model.transformers", parts["transformers"], _TRANSFORMERS)
    return ModelAsked(
        identifier=source["identifier"],
        sha256=sha256 or source["sha256"],
        revision=source["revision"],
        trusts_code=source["trust_remote_code"],
        vllm=engines[0],
        transformers=_possible(engines[1]),
        adapters=tuple(adapters_asked(parts["adapters"])),
        checkpoint=load_asked(checkpoint),
        enforce_cpu=enforce_cpu,
        key=json.dumps([given, sha256, checkpoint, enforce_cpu], sort_keys=True, default=str),
    )


def _possible(asked: Inputs) -> Inputs:
    if asked["load_in_8bit"] and asked["load_in_4bit"]:
        raise Refused("model.transformers has load_in_8bit and load_in_4bit, one of them can be")
    if not asked["low_cpu_mem_usage"]:
        raise Refused("model.transformers.low_cpu_mem_usage is false, and this version of transformers always loads with little memory: leave it out")
    return asked


def _inside(vllm: Inputs) -> Inputs:
    """It is a place that is written to."""
    if vllm["download_dir"] is not None and not Path(vllm["download_dir"]).resolve().is_relative_to(Path.cwd()):
        raise Refused(f"model.vllm.download_dir is {vllm['download_dir']}, which lies outside the job's folder")
    return vllm
