"""What every result says about how it came about, measured and never guessed."""

import importlib.metadata
import platform
import resource
import sys
import time
from pathlib import Path
from typing import Any

import emit

from .artifacts import listed, present

_PACKAGES = ("torch", "numpy", "safetensors", "transformers", "pillow", "diffusers", "trl", "peft", "datasets", "accelerate")
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024
_RAPL = Path("/sys/class/powercap")


class Measured:
    """Begins with a task and tells at its end."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._energy = _package_microjoules()
        self._before = present() if emit.is_session() else frozenset()

    def facts(self) -> dict[str, Any]:
        """Time, memory, energy where the machine counts it, versions, and the files left; in a session those of this task."""
        return {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "seconds": round(time.monotonic() - self._start, 3),
            "peakMemoryBytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT,
            "peakGpuMemoryBytes": _peak_gpu_bytes(),
            "energy": self._used(),
            "versions": _versions(),
            "artifacts": listed(self._before),
        }

    def _used(self) -> dict[str, Any] | None:
        """Of the whole processor package, other programs included: the counter knows no processes."""
        now = _package_microjoules()
        if not now or now.keys() != self._energy.keys():
            return None
        used = [now[name] - self._energy[name] for name in now]
        return None if min(used) < 0 else {"joules": round(sum(used) / 1e6, 3), "of": "the processor package"}


def _package_microjoules() -> dict[str, int]:
    counters = {}
    for file in _RAPL.glob("intel-rapl:?/energy_uj"):
        try:
            counters[file.parent.name] = int(file.read_text())
        except (OSError, ValueError):
            return {}
    return counters


def _peak_gpu_bytes() -> int | None:
    torch = sys.modules.get("torch")
    return torch.cuda.max_memory_allocated() if torch is not None and torch.cuda.is_initialized() else None


def _versions() -> dict[str, str]:
    """Of what was really loaded."""
    modules = {"pillow": "PIL"}
    loaded = [name for name in _PACKAGES if modules.get(name, name) in sys.modules]
    return {"python": platform.python_version(), **{name: importlib.metadata.version(name) for name in loaded}}
