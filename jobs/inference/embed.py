"""Vectors of length 1 for texts, by an encoder or a language model that is loaded anyway."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from language import LanguageModel, window_of
from stoker_job.model_load import load_module, load_tokenizer
from stoker_job.model_source import Source
from stoker_job.pooling import encoder_folder, pooled, pooling_of
from stoker_job.problems import Failed, Refused


@dataclass(frozen=True)
class Encoder:
    """`pooling` is what its folder says."""

    name: str
    tokenizer: Any
    module: Any
    pooling: str = "mean"

    @property
    def window(self) -> int:
        return window_of(self.module.config, self.tokenizer)

    def vectors(self, inputs: Sequence[list[int]]) -> torch.Tensor:
        """One row for each; padding counts for nothing."""
        width = max(len(one) for one in inputs)
        pad = self.tokenizer.pad_token_id or 0
        numbers = torch.tensor([[*one, *[pad] * (width - len(one))] for one in inputs], device=self.module.device)
        there = torch.tensor([[1] * len(one) + [0] * (width - len(one)) for one in inputs], device=self.module.device)
        with torch.inference_mode():
            said = self.module(input_ids=numbers, attention_mask=there).last_hidden_state.float()
        return pooled(said, there, self.pooling)

    def tokens(self, where: str, given: Any) -> list[int]:
        """Of a text, or tokens as they are."""
        found = self.tokenizer(given)["input_ids"] if isinstance(given, str) else given
        size = self.module.config.get_text_config().vocab_size
        is_sound = isinstance(found, list) and all(isinstance(one, int) and 0 <= one < size for one in found)
        if not is_sound or not found:
            raise Refused(f"{where} is neither a text nor a list of tokens of the model {self.name}")
        if len(found) > self.window:
            raise Refused(f"{where} has {len(found)} tokens, the model {self.name} takes {self.window}")
        return found


def encoder_in(language: LanguageModel) -> Encoder:
    """A language model that is loaded already can tell vectors too: those of its layers before the last step to words."""
    inner = language.module.get_base_model() if hasattr(language.module, "get_base_model") else language.module
    return Encoder(language.name, language.tokenizer, inner.base_model)


def open_encoder(source: Source) -> Encoder:
    folder = encoder_folder(source)
    module = load_module(transformers.AutoModel, source, {"dtype": "auto"})
    if module.config.is_encoder_decoder:
        raise Failed(f"model {source.name} is an encoder with a decoder, vectors come from an encoder or a language model")
    if torch.cuda.is_available():
        module.to("cuda")
    return Encoder(source.name, load_tokenizer(source), module, pooling_of(folder))


def packed(vectors: torch.Tensor) -> list[str]:
    """32-bit floats in base64, a third of what the digits would take."""
    return [base64.b64encode(one.numpy().astype("<f4").tobytes()).decode() for one in vectors]
