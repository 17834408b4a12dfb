"""A causal language model of transformers with its tokenizer, as it was asked for and no other."""

import importlib.util
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import transformers
from generate import generated
from model_asked import ModelAsked
from places import Places
from reader import Answer, Hear
from sampling import Sampling
from stoker_job.adapters import with_adapters
from stoker_job.model_load import load_module, load_tokenizer
from stoker_job.problems import Refused


@dataclass(frozen=True)
class LanguageModel:
    """`name` is what was asked for; `facts` say which weights really answer."""

    name: str
    tokenizer: Any
    module: Any
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def device(self) -> torch.device:
        return self.module.device

    @property
    def window(self) -> int:
        return window_of(self.module.config, self.tokenizer)

    @property
    def ends(self) -> list[int]:
        """Those of the model and that of its tokenizer: tuned models often know the end of a turn by the second alone."""
        given = self.module.generation_config.eos_token_id
        listed = given if isinstance(given, list) else [given]
        return [one for one in (*listed, self.tokenizer.eos_token_id) if one is not None]

    @property
    def pad(self) -> int:
        """Never seen by the model, so any token serves where there is none for it."""
        known = (self.tokenizer.pad_token_id, *self.ends, 0)
        return next(one for one in known if one is not None)

    def answers(self, prompts: Sequence[list[int]], sampling: Sampling, size: int, hear: Hear) -> Iterator[tuple[int, Answer]]:
        return generated(self, prompts, sampling, size, hear)

    def engine_facts(self) -> dict[str, Any]:
        return {"engine": "transformers", "device": "cpu" if self.device.type == "cpu" else f"{self.device.type}:{self.device.index or 0}"}


def open_language(asked: ModelAsked, places: Places) -> LanguageModel:
    """Loads it; adapters lie on it afterwards."""
    module = with_adapters(load_module(transformers.AutoModelForCausalLM, places.weights, _options(asked)), places.adapters)
    revision = getattr(module.config, "_commit_hash", None)
    facts = {**places.facts, **({"revision": revision} if revision else {})}
    return LanguageModel(places.name, load_tokenizer(places.tokenizer), module, facts)


def window_of(config: Any, tokenizer: Any) -> int:
    """The most tokens of prompt and answer together; a tokenizer without a limit says a number beyond all reason."""
    inner = config.get_text_config()
    known = [getattr(inner, name, None) for name in ("max_position_embeddings", "n_positions")]
    return min([one for one in known if isinstance(one, int) and one > 0] or [tokenizer.model_max_length])


def _options(asked: ModelAsked) -> dict[str, Any]:
    given = asked.transformers
    options: dict[str, Any] = {"dtype": given["dtype"]}
    place = _device_map(given["device_map"], asked.enforce_cpu)
    if place is not None:
        options["device_map"] = place
    if given["use_flash_attention_2"]:
        _need("flash_attn", "use_flash_attention_2")
        options["attn_implementation"] = "flash_attention_2"
    for bits in ("load_in_8bit", "load_in_4bit"):
        if given[bits]:
            _need("bitsandbytes", bits)
            options["quantization_config"] = transformers.BitsAndBytesConfig(**{bits: True})
    return options


def _device_map(asked: str | None, enforce_cpu: bool) -> Any:
    """Over exactly the devices this job sees; nothing where it sees none."""
    count = torch.cuda.device_count()
    if asked == "cuda" and not count:
        raise Refused("model.transformers.device_map is cuda, and this job sees no GPU")
    if asked == "cpu" or not count or (enforce_cpu and asked is None):
        return None
    return asked if asked in ("auto", "balanced") else {"": 0} if asked == "cuda" or count == 1 else "auto"


def _need(package: str, option: str) -> None:
    if importlib.util.find_spec(package) is None:
        raise Refused(f"model.transformers.{option} is true, and the Python package {package} is not installed here")
