"""Around every program: inputs, one result or one reason, for a one-off and for a session."""

import importlib
import os
import sys
import traceback
from pathlib import Path
from typing import Any

import emit

from . import envelope, stop
from .inputs import check, manifest_of
from .problems import Refused, sentence_of
from .processors import share_processors


def run(main_file: str) -> None:
    """Runs `work(inputs)` of the module work.py beside main.py, imported only when the inputs are right."""
    folder = Path(main_file).resolve().parent
    manifest = manifest_of(folder)
    _leave_talking_to_rank_zero()
    share_processors()
    stop.listen()
    with emit.program(worker=manifest["type"], model=os.environ.get("MODEL_NAME", "")):
        for task in emit.tasks():
            with task:
                _one(manifest, task.metadata)


def _one(manifest: dict[str, Any], metadata: Any) -> None:
    measured = envelope.Measured()
    try:
        inputs = check(metadata, manifest["inputs"])
        emit.worker("working", manifest["title"])
        own = importlib.import_module("work").work(inputs)
        emit.progress(100, "done")
        emit.finish(result={"jobType": manifest["type"], "status": "success", **own, **measured.facts()})
    except Refused as refused:
        emit.finish("failed", error=str(refused), result={"error": str(refused), "errorDetails": None})
        print(f"ERROR: {refused}", file=sys.stderr)
        if not emit.is_session():
            sys.exit(1)
    except Exception as error:
        details = traceback.format_exc()[-20_000:]
        emit.finish("failed", error=sentence_of(error), result={"error": sentence_of(error), "errorDetails": details})
        raise


def _leave_talking_to_rank_zero() -> None:
    """Ranks share one stdout: two programs talking at once would be two results. The others still talk on stderr."""
    if os.environ.get("RANK", "0") != "0":
        sys.stdout = open(os.devnull, "w", encoding="utf8")  # noqa: SIM115 - as long as the program lives
