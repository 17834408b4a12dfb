"""What a classifier is to those who train it and ask it."""

from pathlib import Path
from typing import Any, Protocol

import torch


class Classifier(Protocol):
    """A network together with what turns items into its numbers; so a saved one needs nothing else to be used."""

    kind: str
    classes: list[str]
    module: torch.nn.Module

    def encode(self, items: Any) -> tuple[torch.Tensor, ...]:
        """Images or texts as the tensors that `module` takes, one row for each item."""
        ...

    def with_classes(self, classes: list[str]) -> "Classifier":
        """The same with a new last layer for other classes."""
        ...

    def save(self, folder: Path) -> str:
        """Writes it as one file below the folder and tells the name."""
        ...

    def facts(self) -> dict[str, Any]:
        """For the result and for the identity of a checkpoint."""
        ...
