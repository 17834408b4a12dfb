"""Checkpoints that are folders of a transformers Trainer: whole or not there, two kept, each with what it belongs to."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import emit

from .. import checkpoints
from ..artifacts import synced, write_json
from ..locate import locate
from ..problems import Failed

_IDENTITY = "identity.json"
_STATE = "trainer_state.json"
_KEPT = 2


def scratch() -> Path:
    """Where a checkpoint is written before it is one; beside the others, so that it becomes one by its name alone."""
    return checkpoints.folder() / ".writing"


def keep(written: Path, step: int, identity: dict[str, Any]) -> Path:
    """Makes what a Trainer wrote a checkpoint and tells it; the one before is kept too, older ones go."""
    write_json(written / _IDENTITY, identity)
    for file in written.rglob("*"):
        synced(file)
    path = checkpoints.folder() / f"step-{step:010d}"
    if path.exists():
        _remove(path)
    os.replace(written, path)
    synced(path.parent)
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    emit.emit("checkpoint", path=str(path), step=step, bytes=size)
    for old in _newest_first(checkpoints.folder())[_KEPT:]:
        _remove(old)
    return path


def find(identity: dict[str, Any], named: str | None) -> Path | None:
    """The checkpoint to go on from: RESUME_FROM, else the one the job names; refused when it belongs to other work."""
    given = os.environ.get("RESUME_FROM")
    path = _given(given) if given else locate("training.resume_from_path", named, None) if named else None
    if path is None:
        return None
    candidates = [path] if (path / _STATE).is_file() else _newest_first(path)
    whole = [one for one in candidates if (one / _STATE).is_file()]
    if not whole and named and not given:
        raise Failed(f"training.resume_from_path is {named}, which has no {_STATE} and so is no checkpoint")
    if not whole:
        emit.log(f"RESUME_FROM is {given}, which has no checkpoint yet: starting from the beginning")
        return None
    _compare(whole[0], identity)
    return whole[0]


def step_of(checkpoint: Path) -> int:
    """The step a Trainer's checkpoint was written at."""
    return int(json.loads((checkpoint / _STATE).read_text("utf8"))["global_step"])


def remove_all() -> None:
    """When the work is done; a folder of others keeps its checkpoints and only loses our scratch."""
    shutil.rmtree(scratch(), ignore_errors=True)
    if not os.environ.get("CHECKPOINT_DIR"):
        shutil.rmtree(checkpoints.folder(), ignore_errors=True)


def _given(given: str) -> Path:
    if not Path(given).exists():
        raise Failed(f"RESUME_FROM is {given}, which does not exist")
    return Path(given)


def _compare(path: Path, identity: dict[str, Any]) -> None:
    file = path / _IDENTITY
    if not file.is_file():
        emit.log(f"{path.name} does not say what it belongs to: it is taken as it is", "warning")
        return
    made = json.loads(file.read_text("utf8"))
    for name, value in identity.items():
        if made.get(name) != value:
            raise Failed(f"checkpoint {path.name} was made with {name} {made.get(name)}, this job has {value}")


def _remove(path: Path) -> None:
    gone = path.with_name(f".{path.name}.gone")
    os.replace(path, gone)
    shutil.rmtree(gone)


def _newest_first(folder: Path) -> list[Path]:
    return sorted((one for one in folder.glob("step-*") if one.is_dir()), reverse=True)
