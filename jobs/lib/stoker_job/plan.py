"""How to train, how far it is, and where its random numbers come from."""

import math
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass(frozen=True)
class Plan:
    """How to train; `checkpoint_every` in batches, 0 for once a minute. There is one at the end of each epoch anyway."""

    epochs: int
    batch_size: int
    learning_rate: float
    seed: int
    optimizer: str
    checkpoint_every: int

    def rate_at(self, part: float) -> float:
        """The learning rate falls along half a cosine to nothing, so that the last steps settle."""
        return self.learning_rate * (0.5 + 0.5 * math.cos(math.pi * part))

    def facts(self) -> dict[str, Any]:
        """What the result depends on; when checkpoints are written is not part of it."""
        names = ("epochs", "batch_size", "learning_rate", "seed", "optimizer")
        return {name: getattr(self, name) for name in names}


@dataclass
class Position:
    """The next batch, and the sums of the epoch so far."""

    epoch: int = 0
    batch: int = 0
    loss: float = 0.0
    hits: float = 0.0
    history: list[dict[str, float]] = field(default_factory=list)


def optimizer_of(module: torch.nn.Module, plan: Plan) -> torch.optim.Optimizer:
    """SGD with momentum, or AdamW."""
    if plan.optimizer == "sgd":
        return torch.optim.SGD(module.parameters(), plan.learning_rate, momentum=0.9, nesterov=True)
    return torch.optim.AdamW(module.parameters(), plan.learning_rate)


def mixed(*numbers: int) -> int:
    """One seed of several numbers, different for different ones."""
    mixed = 0
    for number in numbers:
        mixed = (mixed * 6_364_136_223_846_793_005 + number + 1_442_695_040_888_963_407) % 2**63
    return mixed
