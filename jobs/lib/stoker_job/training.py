"""From a classifier and a dataset to metrics and files: what the three training programs share."""

from dataclasses import dataclass
from typing import Any

import emit
import torch

from . import checkpoints
from .artifacts import outputs, write_json, write_whole
from .curve import draw_curve
from .data import Dataset
from .inputs import Inputs
from .models import Classifier
from .plan import Plan
from .ranks import Ranks
from .trainer import Trainer

CHECKPOINT = "checkpoint.pt"


@dataclass(frozen=True)
class Trained:
    """What a training came to; the names are those of files below `outputs/`."""

    history: list[dict[str, float]]
    model_name: str
    facts: dict[str, Any]

    @property
    def last(self) -> dict[str, float]:
        return self.history[-1]


def plan_of(inputs: Inputs, optimizer: str) -> Plan:
    """The inputs all trainings have."""
    names = ("epochs", "batch_size", "learning_rate", "seed", "checkpoint_every")
    return Plan(optimizer=optimizer, **{name: inputs[name] for name in names})


def trainer_of(model: Classifier, data: Dataset, plan: Plan, ranks: Ranks) -> Trainer:
    """A checkpoint of it fits only the same data and the same network."""
    return Trainer(model, data, plan, ranks, {"dataset": data.fingerprint(), **model.facts()})


def train(trainer: Trainer, data: Dataset, title: str) -> Trained:
    """Trains, then leaves weights, metrics, the curve and the last checkpoint; only the first rank writes."""
    emit.progress(5, f"training on {len(data.train)} examples")
    history = trainer.run()
    emit.progress(95, "writing the model")
    name = _leave_files(trainer, data, title, history) if trainer.ranks.is_first else ""
    facts = {**trainer.ranks.facts(), "dataset": data.facts(), "model": trainer.model.facts(), "resumedFrom": trainer.resumed_from}
    return Trained(history, name, facts)


def _leave_files(trainer: Trainer, data: Dataset, title: str, history: list[dict[str, float]]) -> str:
    name = trainer.model.save(outputs())
    write_json(outputs() / "metrics.json", {"plan": trainer.plan.facts(), "dataset": data.facts(), "model": trainer.model.facts(), "epochs": history})
    draw_curve(outputs() / "training-curve.png", title, history)
    write_whole(outputs() / CHECKPOINT, lambda part: torch.save(trainer.state(), part))
    checkpoints.remove_all()
    return name
