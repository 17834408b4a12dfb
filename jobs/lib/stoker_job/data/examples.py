"""Labelled examples, and the part of them that is held out."""

import hashlib
from dataclasses import dataclass
from typing import Any

import torch

from ..problems import Failed

HELD_OUT_PART = 6


@dataclass(frozen=True)
class Examples:
    """Images as bytes [n, channels, height, width] or a list of texts, with the number of the class of each."""

    items: Any
    labels: torch.Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def at(self, rows: list[int]) -> "Examples":
        items = self.items[rows] if isinstance(self.items, torch.Tensor) else [self.items[row] for row in rows]
        return Examples(items, self.labels[rows])


@dataclass(frozen=True)
class Dataset:
    """What is trained on and what is held out for the metrics; no example is in both."""

    name: str
    kind: str
    classes: list[str]
    train: Examples
    held_out: Examples
    is_synthetic: bool = False

    def facts(self) -> dict[str, Any]:
        """For the result: enough to tell whether two runs saw the same data."""
        return {
            "name": self.name,
            "kind": self.kind,
            "classes": len(self.classes),
            "trainExamples": len(self.train),
            "heldOutExamples": len(self.held_out),
            "synthetic": self.is_synthetic,
            "sha256": self.fingerprint(),
        }

    def fingerprint(self) -> str:
        digest = hashlib.sha256("\0".join(self.classes).encode())
        for part in (self.train, self.held_out):
            items = part.items
            digest.update(items.numpy().tobytes() if isinstance(items, torch.Tensor) else "\0".join(items).encode())
            digest.update(part.labels.numpy().tobytes())
        return digest.hexdigest()


def dataset_of(name: str, kind: str, classes: list[str], train: Examples, held_out: Examples | None, seed: int) -> Dataset:
    """Checks what no training can do without; without held-out examples a sixth is held out, chosen by the seed."""
    for part, title in ((train, "training"), (held_out, "held-out")):
        if part is not None and len(part.items) != len(part.labels):
            raise Failed(f"dataset {name} has {len(part.items)} {title} examples and {len(part.labels)} labels, there must be one for each")
        if part is not None and len(part) == 0:
            raise Failed(f"dataset {name} has no {title} examples, at least one is needed")
    if held_out is None:
        train, held_out = _split(name, train, seed)
    if len(classes) < 2:
        raise Failed(f"dataset {name} has only the class {classes[0]}, at least two are needed to tell apart")
    return Dataset(name, kind, classes, train, held_out)


def numbered(labels: list[str], classes: list[str] | None = None) -> tuple[torch.Tensor, list[str]]:
    """Class names in order, and each label as the number of its class; numbers are ordered as numbers."""
    known = classes if classes is not None else sorted(set(labels), key=lambda one: (not one.isdigit(), int(one) if one.isdigit() else 0, one))
    at = {label: number for number, label in enumerate(known)}
    strange = next((label for label in labels if label not in at), None)
    if strange is not None:
        raise Failed(f'the held-out examples have the label "{strange}", the training examples have {", ".join(known[:20])}')
    return torch.tensor([at[label] for label in labels], dtype=torch.int64), known


def _split(name: str, whole: Examples, seed: int) -> tuple[Examples, Examples]:
    count = max(1, len(whole) // HELD_OUT_PART)
    if len(whole) < 2:
        raise Failed(f"dataset {name} has {len(whole)} example, at least two are needed: one to train on and one to hold out")
    order = torch.randperm(len(whole), generator=torch.Generator().manual_seed(seed)).tolist()
    return whole.at(sorted(order[count:])), whole.at(sorted(order[:count]))
