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


def run(main_file: str, served: str | None = None) -> None:
    """Runs `work(inputs)` of the module work.py beside main.py, imported only when the inputs are right.

    `served` names a module beside it for tasks of the OpenAI endpoint, which have a `kind`: its `prepare()` is called
    before a session says that it is ready, and its `serve(task)` answers.
    """
    folder = Path(main_file).resolve().parent
    manifest = manifest_of(folder)
    _leave_talking_to_rank_zero()
    share_processors()
    stop.listen()
    with emit.program(worker=manifest["type"], model=os.environ.get("MODEL_NAME", "")):
        if served is not None and emit.is_session():
            _prepare(served)
        for task in emit.tasks():
            with task:
                _one(manifest, task.metadata, served)


def _prepare(served: str) -> None:
    try:
        importlib.import_module(served).prepare()
    except Exception as error:
        emit.finish("failed", error=sentence_of(error), result={"error": sentence_of(error), "errorDetails": traceback.format_exc()[-20_000:]})
        raise


def _own(manifest: dict[str, Any], metadata: Any, served: str | None) -> dict[str, Any]:
    if served is not None and isinstance(metadata, dict) and "kind" in metadata:
        return importlib.import_module(served).serve(metadata)
    inputs = check(metadata, manifest["inputs"])
    emit.worker("working", manifest["title"])
    return importlib.import_module("work").work(inputs)


def _one(manifest: dict[str, Any], metadata: Any, served: str | None) -> None:
    measured = envelope.Measured()
    try:
        own = _own(manifest, metadata, served)
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
