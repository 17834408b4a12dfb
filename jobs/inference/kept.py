"""The one model that is loaded: a session keeps it, and loads another only when another is asked for."""

import gc
import json
import sys
from collections.abc import Callable
from typing import Any

import emit

_kept: dict[str, Any] = {}


def kept(key: Any, name: str, load: Callable[[], Any]) -> Any:
    """What was loaded for the same key before; otherwise the old one goes before the new one comes, for both may not fit."""
    text = json.dumps(key, default=str)
    if text not in _kept:
        emit.worker("loading", f"loading {name}")
        _kept.clear()
        _give_back()
        _kept[text] = load()
        emit.progress(5, "the model is loaded")
    return _kept[text]


def _give_back() -> None:
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        torch.cuda.empty_cache()
