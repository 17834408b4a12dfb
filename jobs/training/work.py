"""Trains a fresh classifier on any dataset of images or texts."""

from typing import Any

from stoker_job.data import open_dataset
from stoker_job.inputs import Inputs
from stoker_job.models.own import designed_for
from stoker_job.ranks import joined
from stoker_job.repeatable import be_repeatable
from stoker_job.training import CHECKPOINT, plan_of, train, trainer_of


def work(inputs: Inputs) -> dict[str, Any]:
    be_repeatable()
    data = open_dataset(inputs["dataset"], inputs["dataset_sha256"], inputs["seed"])
    with joined() as ranks:
        model = designed_for(data, inputs["model_size"], inputs["seed"])
        trained = train(trainer_of(model, data, plan_of(inputs, "adamw"), ranks), data, f"training on {data.name}")
    last = trained.last
    return {
        "modelUrl": trained.model_name or None,
        "checkpointUrl": CHECKPOINT,
        "trainingMetrics": trained.history,
        "finalMetrics": {"finalLoss": last["loss"], "finalAccuracy": last["accuracy"]},
        "computationData": {
            "epoch": last["epoch"],
            "loss": last["loss"],
            "accuracy": last["accuracy"],
            "learning_rate": inputs["learning_rate"],
        },
        **trained.facts,
    }
