"""Trains on real digits and measures on digits it has not seen."""

from typing import Any

from digits import open_digits
from stoker_job.inputs import Inputs
from stoker_job.models.own import designed_for
from stoker_job.ranks import joined
from stoker_job.repeatable import be_repeatable
from stoker_job.training import CHECKPOINT, plan_of, train, trainer_of


def work(inputs: Inputs) -> dict[str, Any]:
    be_repeatable()
    data = open_digits(inputs["dataset"], inputs["dataset_sha256"], inputs["seed"])
    with joined() as ranks:
        model = designed_for(data, "small", inputs["seed"])
        trained = train(trainer_of(model, data, plan_of(inputs, "sgd"), ranks), data, f"mnist_training on {data.name}")
    epochs = [_in_percent(row) for row in trained.history]
    return {
        "modelUrl": trained.model_name or None,
        "checkpointUrl": CHECKPOINT,
        "trainingMetrics": epochs,
        "finalAccuracy": epochs[-1]["accuracy"],
        "finalLoss": epochs[-1]["loss"],
        **trained.facts,
    }


def _in_percent(row: dict[str, float]) -> dict[str, float]:
    return {**row, **{name: round(100 * row[name], 4) for name in ("accuracy", "trainAccuracy")}}
