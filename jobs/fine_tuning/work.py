"""Goes on from the weights of a base model."""

from typing import Any

from fit import fitted
from stoker_job.data import open_dataset
from stoker_job.inputs import Inputs
from stoker_job.models import open_model
from stoker_job.ranks import joined
from stoker_job.repeatable import be_repeatable
from stoker_job.training import CHECKPOINT, plan_of, train, trainer_of


def work(inputs: Inputs) -> dict[str, Any]:
    be_repeatable()
    base = open_model("baseModel", inputs["baseModel"], inputs["baseModel_sha256"])
    data = open_dataset(inputs["dataset"], inputs["dataset_sha256"], inputs["seed"])
    model, data = fitted(base, data, inputs["seed"])
    with joined() as ranks:
        trainer = trainer_of(model, data, plan_of(inputs, "adamw"), ranks)
        _, before = trainer.evaluate()
        trained = train(trainer, data, f"fine-tuning on {data.name}")
    last = trained.last
    return {
        "modelUrl": trained.model_name or None,
        "checkpointUrl": CHECKPOINT,
        "trainingMetrics": trained.history,
        "baseModel": {"name": inputs["baseModel"], "validation_accuracy": before, "lastLayer": "kept" if model is base else "new"},
        "computationData": {"epoch": last["epoch"], "loss": last["loss"], "validation_accuracy": last["accuracy"]},
        **trained.facts,
    }
