"""What an answer is worth: the judgement of a sequence classifier."""

from pathlib import Path
from typing import Any

import torch
import transformers
from stoker_job.model_load import load_module, load_tokenizer
from stoker_job.model_source import Source, source_of, weights_sha256
from stoker_job.problems import Failed


class Rewards:
    """One output: that number. Several: the probability of the positive label less that of the negative one. Times `scale`."""

    def __init__(self, wanted: dict[str, Any], device: torch.device) -> None:
        source = source_of("reward_model.identifier", wanted["identifier"], wanted["sha256"], wanted["revision"], bool(wanted["trust_remote_code"]))
        self.model = load_module(transformers.AutoModelForSequenceClassification, source, {"dtype": torch.float32}).to(device)
        self.tokenizer = load_tokenizer(source)
        self.scale, self.device = wanted["scale"], device
        labels = [str(self.model.config.id2label[number]) for number in range(self.model.config.num_labels)]
        self.positive, self.negative = _numbers(labels, wanted) if len(labels) > 1 else (0, None)
        self.facts = {"name": source.name, "weights": _weights(source, self.model), "labels": labels}

    @torch.no_grad()
    def of(self, texts: list[str]) -> torch.Tensor:
        """One number for each text."""
        most = min(self.tokenizer.model_max_length, getattr(self.model.config, "max_position_embeddings", 512))
        given = self.tokenizer(texts, padding=True, truncation=True, max_length=most, return_tensors="pt").to(self.device)
        logits = self.model(input_ids=given["input_ids"], attention_mask=given["attention_mask"]).logits.float()
        if self.negative is None and logits.shape[1] == 1:
            worth = logits[:, 0]
        else:
            chances = logits.softmax(1)
            worth = chances[:, self.positive] - (chances[:, self.negative] if self.negative is not None else 0)
        if not torch.isfinite(worth).all():
            raise Failed(f"the reward model gives {worth.tolist()} for a batch of answers, rewards must be numbers")
        return self.scale * worth


def _weights(source: Source, model: Any) -> str | None:
    return weights_sha256(Path(source.place)) if Path(source.place).is_dir() else getattr(model.config, "_commit_hash", None)


def _numbers(labels: list[str], wanted: dict[str, Any]) -> tuple[int, int | None]:
    positive = _number(labels, wanted["positive_label"] or "POSITIVE", "positive_label")
    if wanted["negative_label"] is None and len(labels) > 2:
        return positive, None
    if wanted["negative_label"] is None:
        return positive, 1 - positive
    return positive, _number(labels, wanted["negative_label"], "negative_label")


def _number(labels: list[str], label: str, name: str) -> int:
    found = [number for number, one in enumerate(labels) if one.lower() == label.lower()]
    if not found:
        raise Failed(f"reward_model.{name} is {label}, the reward model has the labels {', '.join(labels)}")
    return found[0]
