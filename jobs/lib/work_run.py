"""Calls the work of a program in this process, for tests: the libraries are loaded once, and what it says is kept."""

import contextlib
import importlib
import io
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from stoker_job.inputs import check, manifest_of

JOBS = Path(__file__).resolve().parents[1]


def worked(program: str, folder: Path, inputs: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Its own part of the result, and its events; raises what it raises."""
    if str(JOBS / program) not in sys.path:
        sys.path.insert(0, str(JOBS / program))
    said = io.StringIO()
    with _inside(folder), contextlib.redirect_stdout(said):
        result = importlib.import_module("work").work(check(inputs, manifest_of(JOBS / program)["inputs"]))
    return result, [json.loads(line) for line in said.getvalue().splitlines()]


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
