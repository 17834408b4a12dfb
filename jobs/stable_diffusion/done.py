"""Pictures that are done are not made again: a checkpoint keeps them, and the next attempt goes on behind them.

The checkpoint is one growing folder. Its state is written after the pictures it names, and a picture counts only if
its bytes are those that were told: whatever of the folder was brought over, what is found in it is true.
"""

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import emit
from stoker_job import checkpoints
from stoker_job.artifacts import outputs, sha256_of, write_json, write_whole
from stoker_job.problems import Failed

_STATE = "state.json"
_EVERY_SECONDS = 20


class Done:
    """The pictures of this job so far; a single picture, or one of a session, has nothing to go on from."""

    def __init__(self, identity: dict[str, Any], seed: int, is_kept: bool) -> None:
        self.identity, self.seed, self.made = identity, seed, []
        self.resumed_from: dict[str, Any] | None = None
        self._is_kept, self._saved, self._saved_at = is_kept, 0, time.monotonic()

    def add(self, facts: dict[str, Any]) -> None:
        self.made.append(facts)
        if time.monotonic() - self._saved_at > _EVERY_SECONDS:
            self.save()

    def save(self) -> None:
        """Told as a checkpoint, if there is anything new."""
        if not self._is_kept or len(self.made) == self._saved:
            return
        folder = _folder()
        for facts in self.made[self._saved :]:
            _copy(outputs() / facts["name"], folder / facts["name"])
        write_json(folder / _STATE, {"identity": self.identity, "seed": self.seed, "made": self.made})
        self._saved, self._saved_at = len(self.made), time.monotonic()
        emit.emit("checkpoint", path=str(folder), step=self._saved)

    def forget(self) -> None:
        """When all pictures are artifacts the way there is of no use; a folder of others is left to them."""
        if self._saved and not os.environ.get("CHECKPOINT_DIR"):
            shutil.rmtree(checkpoints.folder())


def done_before(identity: dict[str, Any], seed: int, is_kept: bool) -> Done:
    """What RESUME_FROM has of the same work, with its pictures brought to the outputs; otherwise a beginning."""
    given = os.environ.get("RESUME_FROM")
    if not given or not is_kept:
        return Done(identity, seed, is_kept)
    folder = Path(given)
    if not folder.exists():
        raise Failed(f"RESUME_FROM is {given}, which does not exist")
    if not (folder / _STATE).is_file():
        emit.log(f"RESUME_FROM is {given}, which has no pictures yet: starting from the beginning")
        return Done(identity, seed, is_kept)
    state = json.loads((folder / _STATE).read_text("utf8"))
    for name, value in identity.items():
        if state["identity"].get(name) != value:
            raise Failed(f"the pictures at RESUME_FROM were made with {name} {state['identity'].get(name)}, this job has {value}")
    done = Done(identity, state["seed"], is_kept)
    done.made = _brought(folder, state["made"])
    done.resumed_from = {"path": given, "step": len(done.made)}
    return done


def _brought(folder: Path, made: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for number, facts in enumerate(made):
        file = folder / Path(facts["name"]).name
        if not file.is_file() or sha256_of(file) != facts["sha256"]:
            return made[:number]
        _copy(file, outputs() / file.name)
    return made


def _folder() -> Path:
    return checkpoints.folder() / "pictures"


def _copy(source: Path, target: Path) -> None:
    write_whole(target, lambda part: shutil.copyfile(source, part))
