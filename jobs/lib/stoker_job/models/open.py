"""Loads exactly the model that was named."""

import os
from pathlib import Path

from ..locate import locate
from ..problems import Failed, Refused
from .classifier import Classifier
from .own import FILE, load_own
from .pretrained import is_pretrained, load_pretrained


def open_model(name: str, value: str | None, sha256: str | None) -> Classifier:
    """A file or folder, an archive or URL of one; without a name the job's model at MODEL_PATH."""
    path = _given(name) if value is None else locate(name, value, sha256)
    if path.is_dir() and (path / FILE).is_file() and not is_pretrained(path):
        path = path / FILE
    if path.is_dir() and is_pretrained(path):
        return load_pretrained(path)
    if path.is_file():
        return load_own(path)
    has = ", ".join(sorted(one.name for one in path.iterdir())[:8]) or "nothing"
    raise Failed(f"{name} {path.name} has {has}, it needs {FILE} of ours or config.json and weights of transformers")


def _given(name: str) -> Path:
    folder = Path(os.environ.get("MODEL_PATH") or "/nonexistent")
    if not folder.is_dir() or not any(folder.iterdir()):
        raise Refused(f"the input {name} is missing and MODEL_PATH has no model: name a file or folder, or give the job a model")
    return folder
