"""Brings a base model and a dataset together."""

import dataclasses

import torch
from stoker_job.data import Dataset, Examples
from stoker_job.models import Classifier
from stoker_job.problems import Failed


def fitted(base: Classifier, data: Dataset, seed: int) -> tuple[Classifier, Dataset]:
    """Where the model knows all classes of the dataset its last layer stays; else it gets a new one for them."""
    if base.kind != data.kind:
        raise Failed(f"the base model takes {base.kind}s, dataset {data.name} has {data.kind}s")
    if not set(data.classes) <= set(base.classes):
        torch.manual_seed(seed)
        return base.with_classes(data.classes), data
    numbers = torch.tensor([base.classes.index(name) for name in data.classes])
    return base, dataclasses.replace(data, classes=base.classes, train=_renumbered(data.train, numbers), held_out=_renumbered(data.held_out, numbers))


def _renumbered(part: Examples, numbers: torch.Tensor) -> Examples:
    return Examples(part.items, numbers[part.labels])
