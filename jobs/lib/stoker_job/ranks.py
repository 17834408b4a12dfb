"""Several processes that train one model together: torch.distributed, by the variables torchrun sets."""

import contextlib
import datetime
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import distributed

from .problems import Refused

_TIMEOUT = datetime.timedelta(minutes=10)


@dataclass(frozen=True)
class Ranks:
    """Which of how many this process is, and the device it computes on."""

    rank: int
    count: int
    device: torch.device

    @property
    def is_first(self) -> bool:
        """The one that talks and writes."""
        return self.rank == 0

    def sum(self, values: torch.Tensor) -> torch.Tensor:
        """The sum over all ranks, in place; the same in each of them."""
        if self.count > 1:
            distributed.all_reduce(values)
        return values

    def facts(self) -> dict[str, object]:
        return {"device": _name(self.device), "engine": "torch", "ranks": self.count}


@contextlib.contextmanager
def joined() -> Iterator[Ranks]:
    """Joins the other ranks if there are any: nccl on GPUs, gloo on processors. What comes after is told by the first; the others end here."""
    rank, count = _number("RANK", 0), _number("WORLD_SIZE", 1)
    device = _device(_number("LOCAL_RANK", rank))
    if count == 1:
        yield Ranks(0, 1, device)
        return
    if not 0 <= rank < count:
        raise Refused(f"RANK is {rank} and WORLD_SIZE is {count}, ranks go from 0 to {count - 1}")
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=_TIMEOUT)
    try:
        yield Ranks(rank, count, device)
        if rank > 0:
            _end()
    finally:
        distributed.destroy_process_group()


def _end() -> None:
    """At once: a thread of gloo that still lets go of a tensor and a Python that takes the group apart can wait for each other for ever."""
    sys.stderr.flush()
    os._exit(0)


def _device(local: int) -> torch.device:
    if not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", local % torch.cuda.device_count())
    torch.cuda.set_device(device)
    return device


def _name(device: torch.device) -> str:
    return "cpu" if device.type == "cpu" else f"cuda:{device.index}"


def _number(variable: str, default: int) -> int:
    text = os.environ.get(variable) or str(default)
    if not text.isdigit():
        raise Refused(f"{variable} is {text}, a whole number is needed")
    return int(text)
