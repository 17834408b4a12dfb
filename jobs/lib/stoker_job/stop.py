"""A request to stop (SIGTERM): at once outside a step of work, at the end of the step inside one.

A signal in the middle of an optimiser's step would leave weights half old and half new; so the trainer defers it,
ends the step, writes a checkpoint, and leaves. A second signal changes nothing: the worker's grace is the limit.
"""

import contextlib
import signal
from collections.abc import Iterator
from typing import Any

import emit

_state = {"asked": False, "deferred": False}


def listen() -> None:
    """Takes SIGTERM before `emit.program()` would."""
    signal.signal(signal.SIGTERM, _on_signal)


def is_asked() -> bool:
    """Whether the program was asked to stop."""
    return _state["asked"]


@contextlib.contextmanager
def deferred() -> Iterator[None]:
    """Inside, a request is only noted; whoever defers it must look at `is_asked` often."""
    _state["deferred"] = True
    try:
        yield
    finally:
        _state["deferred"] = False


def leave() -> None:
    """Ends like a program that the signal ended."""
    raise emit.Stopped(143)


def _on_signal(_number: int, _frame: Any) -> None:
    is_first = not _state["asked"]
    _state["asked"] = True
    if is_first and not _state["deferred"]:
        leave()
