"""Settings of the libraries that read them when they are imported."""

import os
from pathlib import Path

from ..locate import cache


def prepare_libraries() -> None:
    """What comes from a hub is kept where fetched files are kept, unless the machine has its place for it."""
    if not (Path.home() / ".cache" / "huggingface").is_dir():
        os.environ.setdefault("HF_HOME", str((cache() / "huggingface").resolve()))
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
