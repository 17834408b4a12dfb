"""Teaches a language model texts by a small adapter beside its weights."""

import math
from typing import Any

from stoker_job.inputs import Inputs
from stoker_job.tuning.data import texts_wanted
from stoker_job.tuning.program import with_trainer
from stoker_job.tuning.wishes import read_lora, read_wishes


def work(inputs: Inputs) -> dict[str, Any]:
    lora = read_lora(inputs)
    wishes, read = read_wishes("lora_sft", inputs, {"lora": lora}), texts_wanted(inputs["data"])

    def trainer_of(prepared: Any) -> Any:
        import trl
        from adapter import with_adapter

        started, settings = prepared.started, trl.SFTConfig(**prepared.settings, packing=wishes.training["packing"])
        model = with_adapter(started, lora, wishes.training["seed"])
        return prepared.watch(trl.SFTTrainer)(model, settings, train_dataset=prepared.rows, processing_class=started.tokenizer)

    return with_trainer(wishes, read, "final_lora", lambda words: 2 * math.log(words), trainer_of)
