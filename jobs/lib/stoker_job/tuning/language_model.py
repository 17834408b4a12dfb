"""Loads exactly the weights that were named, and says which they were."""

import importlib.util
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import emit
import torch
import transformers

from ..adapters import CONFIG as ADAPTER_CONFIG
from ..adapters import facts_of, placed, with_adapters
from ..model_load import load_module, load_tokenizer
from ..model_source import Source, check_readable, source_of, weights_sha256
from ..problems import Failed, Refused
from ..weights_load import loaded_folder
from .wishes import Wishes


@dataclass
class Started:
    """A model and tokenizer before the first step; `adapter` is the folder of a LoRA to go on with."""

    model: Any
    tokenizer: Any
    name: str
    adapter: Path | None
    facts: dict[str, Any]


def start_model(wishes: Wishes) -> Started:
    """The base model, or the weights of `checkpoint.load` in its place; adapters are merged into it."""
    loaded = loaded_folder(wishes.load) if wishes.load else None
    if loaded is not None:
        check_readable("checkpoint.load", loaded)
    is_adapter = loaded is not None and (loaded / ADAPTER_CONFIG).is_file()
    if is_adapter and wishes.kind != "lora_sft":
        raise Failed(f"checkpoint.load has {ADAPTER_CONFIG}, a LoRA adapter, and {wishes.kind} starts from whole weights: name it in model.adapters with apply: merge")
    settings, adapters = _settings(wishes), placed(wishes.adapters)
    weights, words = _sources(wishes, None if is_adapter else loaded)
    digest = weights_sha256(Path(weights.place)) if Path(weights.place).is_dir() else None
    model = with_adapters(load_module(transformers.AutoModelForCausalLM, weights, settings), adapters)
    facts = {
        "architecture": type(model).__name__,
        "parameters": sum(one.numel() for one in model.parameters()),
        "startWeights": digest or getattr(model.config, "_commit_hash", None),
        "startAdapter": weights_sha256(loaded) if loaded and is_adapter else None,
        "adapters": [facts_of(*one) for one in adapters],
    }
    return Started(model, _tokenizer(words), weights.name, loaded if is_adapter else None, facts)


def _sources(wishes: Wishes, loaded: Path | None) -> tuple[Source, Source]:
    """Where the weights and the tokenizer are; whole weights have their own, others take that of the base model."""
    asked, trusts = wishes.source, bool(wishes.source["trust_remote_code"] or wishes.transformers["trust_remote_code"])
    if loaded is not None and (loaded / "tokenizer_config.json").is_file():
        whole = Source(asked["identifier"] or loaded.name, str(loaded), None, trusts)
        return whole, whole
    base = source_of("model.source.identifier", asked["identifier"], asked["sha256"], asked["revision"], trusts)
    return (base if loaded is None else replace(base, place=str(loaded), revision=None, is_local=True)), base


def _tokenizer(source: Source) -> Any:
    found = load_tokenizer(source)
    if found.eos_token is None:
        raise Failed(f"the tokenizer of {source.name} has no eos_token, without it a model cannot learn to end")
    found.pad_token = found.pad_token or found.eos_token
    return found


def most_tokens(model: Any, wanted: int) -> int:
    """As many as the job wants, but no more than the model has places for."""
    places = getattr(model.config.get_text_config(), "max_position_embeddings", None) or wanted
    if places < wanted:
        emit.log(f"training.max_seq_length is {wanted}, the model has {places} places: texts are cut there")
    return min(places, wanted)


def _settings(wishes: Wishes) -> dict[str, Any]:
    how, is_cuda = wishes.transformers, torch.cuda.is_available() and not wishes.is_on_cpu
    dtype = how["dtype"] or ("auto" if wishes.kind == "lora_sft" else "float32")
    settings: dict[str, Any] = {"dtype": dtype if dtype == "auto" else getattr(torch, dtype)}
    if how["device_map"] == "cuda" and not is_cuda:
        raise Failed("model.transformers.device_map is cuda, this job has no GPU")
    if how["device_map"] == "balanced" and int(os.environ.get("WORLD_SIZE") or 1) > 1:
        raise Refused("model.transformers.device_map is balanced and there are several ranks, each of which holds the whole model")
    if how["device_map"] == "balanced" and is_cuda:
        settings["device_map"] = "balanced"
    if how["use_flash_attention_2"]:
        _needs("model.transformers.use_flash_attention_2", "flash_attn", is_cuda)
        settings["attn_implementation"] = "flash_attention_2"
    for name in ("load_in_8bit", "load_in_4bit"):
        if how[name]:
            _needs(f"model.transformers.{name}", "bitsandbytes", is_cuda)
            settings["quantization_config"] = transformers.BitsAndBytesConfig(**{name: True}, bnb_4bit_compute_dtype=torch.bfloat16)
    return settings


def _needs(name: str, package: str, is_cuda: bool) -> None:
    if not is_cuda:
        raise Failed(f"{name} is true, it needs a GPU and this job has none")
    if importlib.util.find_spec(package) is None:
        raise Failed(f"{name} is true and the Python package {package} is not installed here: add it to environment.requirements of the job")
