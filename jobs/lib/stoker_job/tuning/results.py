"""What the results of these programs have in common."""

import math
import os
from pathlib import Path
from typing import Any

from .. import checkpoints
from . import final
from .data import Learned
from .language_model import Started
from .wishes import Wishes

_SHOWN_ENTRIES = 200
_UNTOLD = (
    "logging_steps", "save_steps", "save_freq", "save_strategy", "save_model", "resume_from_path", "allow_multi_gpu", "nproc_per_node", "primary_gpu",
    "visible_devices", "ddp_find_unused_parameters",
)  # fmt: skip


def plan_of(wishes: Wishes) -> dict[str, Any]:
    """What the weights depend on; when checkpoints are written and which devices compute is not part of it."""
    return {key: value for key, value in wishes.training.items() if key not in _UNTOLD}


def documented(wishes: Wishes, started: Started, data: Learned, name: str, seconds: float, resumed: Path | None) -> dict[str, Any]:
    """The result as templates know it. Names are those of files below the job's folder; a URL is the name of an artifact."""
    folder = checkpoints.folder()
    own = {
        "task_id": os.environ.get("TASK_ID", ""),
        "checkpoints_dir": str(folder) if folder.is_dir() else None,
        "resume_from_path": str(resumed) if resumed else None,
    }
    return {
        **(own if wishes.kind in ("sft", "lora_sft") else {}),
        "training_successful": True,
        "training_time_seconds": round(seconds, 3),
        "error_message": None,
        "model_name": started.name,
        "dataset_size": len(data),
        "output_dir": "outputs",
        **final.places(name, wishes.training["save_model"]),
    }


def thinned(history: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A result may not be long: the last entry and every so many before it; metrics.json has them all."""
    every = math.ceil(len(history) / _SHOWN_ENTRIES) or 1
    return history[::-1][::every][::-1]
