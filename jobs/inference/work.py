"""Two forms of one type, told apart by the inputs: `input` asks a classifier, `data` has a language model write."""

import os
from typing import Any

from stoker_job.inputs import Inputs, shown
from stoker_job.problems import Refused

_TEMPLATE = ("data", "inference", "checkpoint", "postprocess", "shard", "enforce_cpu", "merge_children", "_upstreamResults")


def work(inputs: Inputs) -> dict[str, Any]:
    template = {name: inputs[name] for name in ("model", *_TEMPLATE)}
    given = [name for name in _TEMPLATE if inputs[name] is not None]
    if inputs["input"] is None and not given:
        raise Refused("neither input nor data is given: input asks a classifier, data (a text, a list or a template's object) a language model")
    if inputs["input"] is None and inputs["top"] != 1:
        raise Refused(f"top is {inputs['top']}, which belongs to input and the classes of a classifier, and {given[0]} is given")
    if inputs["input"] is None:
        return _written(template, inputs["model_sha256"])
    if given:
        raise Refused(f"input and {given[0]} are given: input asks a classifier, {given[0]} belongs to the template of a language model")
    if not isinstance(inputs["model"], (str, type(None))):
        raise Refused(f"model is {shown(inputs['model'])}, beside input it must be a text")
    from predict import predicted

    return predicted(inputs)


def _written(template: dict[str, Any], sha256: str | None) -> dict[str, Any]:
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise Refused(f"the job has {os.environ['WORLD_SIZE']} ranks, and a language model answers from one process that uses all its GPUs: leave ranks out")
    from template import answered

    return answered(template, sha256)
