"""Checkpoints: written whole to CHECKPOINT_DIR while a program runs, read from RESUME_FROM when it starts again."""

import os
import pickle
from pathlib import Path
from typing import Any

import emit
import torch

from .artifacts import write_whole
from .problems import Failed

_KEPT = 2


def folder() -> Path:
    """Where they go; the default lies below the outputs, so that they are kept without a word."""
    return Path(os.environ.get("CHECKPOINT_DIR") or "outputs/checkpoints")


def write(state: dict[str, Any], step: int) -> Path:
    """One whole file, told in a `checkpoint` event; the one before is kept too, older ones go."""
    path = folder() / f"step-{step:010d}.pt"
    write_whole(path, lambda part: torch.save(state, part))
    emit.emit("checkpoint", path=str(path), step=step, bytes=path.stat().st_size)
    for old in _newest_first(folder())[_KEPT:]:
        old.unlink(missing_ok=True)
    return path


def remove_all() -> None:
    """When the work is done and its end is an artifact, the way there is of no use; a folder of others is left to them."""
    if os.environ.get("CHECKPOINT_DIR"):
        return
    for old in _newest_first(folder()):
        old.unlink(missing_ok=True)
    if folder().is_dir():
        folder().rmdir()


def read(identity: dict[str, Any]) -> tuple[dict[str, Any], Path] | None:
    """The state to go on with; refused when it belongs to other work. A half-read newest one gives way to the one before."""
    given = os.environ.get("RESUME_FROM")
    if not given:
        return None
    path = Path(given)
    if not path.exists():
        raise Failed(f"RESUME_FROM is {given}, which does not exist")
    candidates = _newest_first(path) if path.is_dir() else [path]
    for file in candidates:
        try:
            state = torch.load(file, map_location="cpu", weights_only=True)
        except (OSError, RuntimeError, EOFError, pickle.UnpicklingError, ValueError, KeyError) as error:
            emit.log(f"{file.name} cannot be read and is passed over: {str(error).splitlines()[0]}", "warning")
            continue
        _compare(file, state, identity)
        return state, file
    if candidates:
        raise Failed(f"RESUME_FROM is {given}, and none of its {len(candidates)} checkpoints can be read")
    emit.log(f"RESUME_FROM is {given}, which has no checkpoint yet: starting from the beginning")
    return None


def _compare(file: Path, state: Any, identity: dict[str, Any]) -> None:
    made = state.get("identity") if isinstance(state, dict) else None
    if not isinstance(made, dict):
        raise Failed(f"{file.name} is no checkpoint of these programs")
    for name, value in identity.items():
        if made.get(name) != value:
            raise Failed(f"checkpoint {file.name} was made with {name} {made.get(name)}, this job has {value}")


def _newest_first(path: Path) -> list[Path]:
    return sorted(path.glob("step-*.pt"), reverse=True)
