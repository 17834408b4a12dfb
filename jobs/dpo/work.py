"""Teaches a language model to prefer the better of two answers."""

import copy
from typing import Any

from stoker_job.inputs import Inputs
from stoker_job.tuning.data import pairs_wanted
from stoker_job.tuning.program import with_trainer
from stoker_job.tuning.wishes import read_wishes

#: The loss of a model that is sure of the worse answer everywhere; one that does not care has 0.69.
_ASTRAY = 20.0


def work(inputs: Inputs) -> dict[str, Any]:
    wishes, read = read_wishes("dpo", inputs), pairs_wanted(inputs["data"])

    def trainer_of(prepared: Any) -> Any:
        import trl

        started, settings = prepared.started, trl.DPOConfig(**prepared.settings, beta=wishes.training["beta"])
        before = copy.deepcopy(started.model)
        return prepared.watch(trl.DPOTrainer)(started.model, before, settings, train_dataset=prepared.rows, processing_class=started.tokenizer)

    result = with_trainer(wishes, read, "final_model", lambda _words: _ASTRAY, trainer_of)
    last = result["trainingMetrics"][-1] if result["trainingMetrics"] else {}
    return {**result, "finalMargin": last.get("margin"), "finalAccuracy": last.get("accuracy")}
