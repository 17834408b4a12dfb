"""Teaches a language model texts, all of its weights."""

import math
from typing import Any

from stoker_job.inputs import Inputs
from stoker_job.tuning.data import texts_wanted
from stoker_job.tuning.program import with_trainer
from stoker_job.tuning.wishes import read_wishes


def work(inputs: Inputs) -> dict[str, Any]:
    wishes, read = read_wishes("sft", inputs), texts_wanted(inputs["data"])

    def trainer_of(prepared: Any) -> Any:
        import trl

        started, settings = prepared.started, trl.SFTConfig(**prepared.settings, packing=wishes.training["packing"])
        return prepared.watch(trl.SFTTrainer)(started.model, settings, train_dataset=prepared.rows, processing_class=started.tokenizer)

    return with_trainer(wishes, read, "final_model", lambda words: 2 * math.log(words), trainer_of)
