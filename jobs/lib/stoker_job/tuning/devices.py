"""Which devices a job may use and how many ranks that makes, decided before torch touches a device."""

import os
from typing import Any

from ..inputs import Inputs, shown
from ..problems import Refused
from .wishes import Wishes


def choose_devices(wishes: Wishes) -> int:
    """Hides what the job does not want to use from this process, and tells how many ranks there should be."""
    training, kind = wishes.training, wishes.kind
    given = int(os.environ.get("WORLD_SIZE") or 1)
    if wishes.is_on_cpu:
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
    there = _visible()
    wanted = _wanted(training, there)
    if wanted != there:
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(wanted)
    if kind == "lora_sft":
        return _alone(training, given, wanted)
    if given > 1:
        return _as_launched(training, given)
    asked = training["nproc_per_node"]
    if training["allow_multi_gpu"] is False and asked and asked > 1:
        raise Refused(f"training.allow_multi_gpu is false and training.nproc_per_node is {asked}")
    if wishes.transformers["device_map"] == "balanced":
        return 1
    if not wanted:
        return asked or 1
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(wanted[:asked])
    return min(asked or len(wanted), len(wanted))


def _visible() -> list[str]:
    import torch

    count = torch.cuda.device_count()
    listed = [one.strip() for one in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if one.strip()]
    return listed[:count] if listed else [str(number) for number in range(count)]


def _wanted(training: Inputs, there: list[str]) -> list[str]:
    """Numbers count the devices the job was given, from 0."""
    numbers = _numbers(training["visible_devices"])
    for number in numbers or []:
        if number >= len(there):
            raise Refused(f"training.visible_devices has {number}, this job has {len(there)} GPUs, counted from 0")
    wanted = there if numbers is None else [there[number] for number in numbers]
    primary = training["primary_gpu"] or 0
    if primary > 0 and primary >= len(wanted):
        raise Refused(f"training.primary_gpu is {primary}, there are {len(wanted)} GPUs to choose from, counted from 0")
    if training["allow_multi_gpu"] is False:
        return wanted[primary : primary + 1]
    return wanted[primary : primary + 1] + wanted[:primary] + wanted[primary + 1 :]


def _numbers(given: Any) -> list[int] | None:
    if given is None:
        return None
    parts = given.split(",") if isinstance(given, str) else given if isinstance(given, list) else [given]
    if not parts or not all(str(one).strip().isdigit() for one in parts):
        raise Refused(f'training.visible_devices is {shown(given)}, it must be a list of numbers such as [0, 1] or "0,1"')
    return [int(one) for one in parts]


def _alone(training: Inputs, given: int, wanted: list[str]) -> int:
    for name in ("allow_multi_gpu", "nproc_per_node"):
        if training[name] and training[name] != 1 or training[name] is True:
            raise Refused(f"training.{name} is {shown(training[name])}, lora_sft trains in one process")
    if given > 1:
        raise Refused(f"the job has {given} ranks, lora_sft trains in one process")
    if len(wanted) > 1:
        os.environ["CUDA_VISIBLE_DEVICES"] = wanted[0]
    return 1


def _as_launched(training: Inputs, given: int) -> int:
    asked = training["nproc_per_node"]
    if asked and asked != given:
        raise Refused(f"the job has {given} ranks and training.nproc_per_node is {asked}")
    if training["allow_multi_gpu"] is False:
        raise Refused(f"the job has {given} ranks and training.allow_multi_gpu is false")
    return given
