"""As many threads as the job has processors, and none that wait by spinning."""

import math
import os
from pathlib import Path

_CGROUPS = Path("/sys/fs/cgroup")


def share_processors() -> None:
    """Before torch is imported. Threads that spin for each other on a busy or limited machine cost eight times the time."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    given = quota(_CGROUPS, _own_cgroup())
    if given is not None:
        os.environ.setdefault("OMP_NUM_THREADS", str(given))


def quota(root: Path, own: str) -> int | None:
    """The whole processors a cgroup may use, the tightest of it and its parents; None where nothing limits it."""
    limits = []
    for folder in (root / own, *(root / own).parents):
        try:
            most, period = (folder / "cpu.max").read_text().split()
        except (OSError, ValueError):
            continue
        if most != "max":
            limits.append(math.ceil(int(most) / int(period)))
    return max(1, min(limits)) if limits else None


def _own_cgroup() -> str:
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return ""
    return next((line[3:].strip("/") for line in lines if line.startswith("0::")), "")
