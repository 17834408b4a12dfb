"""Texts as vectors of length one, by any encoder of transformers: what the folder says of its pooling is done."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import torch
import transformers
from stoker_job.model_source import Source
from stoker_job.pooling import encoder_folder, pooled, pooling_of, read_json
from stoker_job.problems import Failed, first_line, is_out_of_memory

_LEAST_TOKENS = 4


class Encoder:
    """Keeps the model on its device; the same text has the same vector whatever it is batched with, up to rounding."""

    def __init__(self, source: Source, device: torch.device, batch_size: int, max_length: int | None) -> None:
        folder = encoder_folder(source)
        self.pooling = pooling_of(folder)
        self.device, self.batch_size = device, batch_size
        self.name = source.name
        self.tokenizer, model = _loaded(source.name, folder)
        self.model = (model.get_encoder() if model.config.is_encoder_decoder else model).to(device).eval()
        self.dimensions = int(model.config.hidden_size)
        most = _most_tokens(self.tokenizer, model.config, folder)
        if max_length is not None and max_length > most:
            raise Failed(f"embedding.max_length is {max_length}, the encoder {source.name} reads {most} tokens")
        self.max_length = max_length or most

    def embed(self, texts: list[str], tell: Callable[[int], None] = lambda _: None) -> numpy.ndarray:
        """One row for each text; those of like length are computed together. Texts must fit."""
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        vectors = numpy.zeros((len(texts), self.dimensions), dtype=numpy.float32)
        for start in range(0, len(order), self.batch_size):
            batch = order[start : start + self.batch_size]
            vectors[batch] = self._vectors([texts[number] for number in batch])
            tell(start + len(batch))
        return vectors

    def tokens(self, text: str) -> int:
        return len(self.tokenizer(text, truncation=False, verbose=False)["input_ids"])

    def windows(self, text: str, prefix: str) -> list[str]:
        """The text itself, or pieces of it that fit behind the prefix, each beginning in the last eighth of the one before."""
        around = self.tokens("")
        most = self.max_length - self.tokens(prefix) + around
        if most - around < _LEAST_TOKENS:
            raise Failed(f"embedding.document_prefix takes {self.tokens(prefix)} of the {self.max_length} tokens the encoder reads, too little is left for a passage")
        if self.tokens(text) <= most:
            return [text]
        rows = self.tokenizer(
            text, truncation=True, max_length=most, stride=(most - around) // 8,
            return_overflowing_tokens=True, return_offsets_mapping=True,
        )  # fmt: skip
        spans = [[span for span in offsets if span[1] > span[0]] for offsets in rows["offset_mapping"]]
        return [text[span[0][0] : span[-1][1]] for span in spans if span]

    def _vectors(self, texts: list[str]) -> numpy.ndarray:
        rows = self.tokenizer(texts, padding=True, truncation=True, max_length=self.max_length, return_tensors="pt").to(self.device)
        with torch.inference_mode():
            states = self.model(input_ids=rows["input_ids"], attention_mask=rows["attention_mask"]).last_hidden_state.float()
        return pooled(states, rows["attention_mask"], self.pooling).numpy()


def _loaded(name: str, folder: Path) -> tuple[Any, Any]:
    """No code of the model is run, no pickled weights are read."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model = transformers.AutoModel.from_pretrained(folder, local_files_only=True, use_safetensors=True, dtype=torch.float32)
    except (OSError, ValueError, RuntimeError, KeyError, ImportError) as error:
        if is_out_of_memory(error):
            raise
        raise Failed(f"the encoder {name} cannot be loaded: {first_line(error)}") from error
    if not tokenizer.is_fast:
        raise Failed(f"the encoder {name} has no tokenizer.json, which is needed to part long texts")
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    return tokenizer, model


def _most_tokens(tokenizer: Any, config: Any, folder: Path) -> int:
    """The least that anyone says; positions of the family of RoBERTa begin behind the padding."""
    positions = getattr(config, "max_position_embeddings", None) or 512
    if "roberta" in config.model_type or config.model_type in ("camembert", "mpnet"):
        positions -= (config.pad_token_id or 0) + 1
    said = (read_json(folder / "sentence_bert_config.json") or {}).get("max_seq_length")
    return int(min(positions, tokenizer.model_max_length, said or positions))
