"""Events of a program that Stoker runs: one JSON object per line on stdout, flushed at once.

One file, standard library only, Python 3.8 or later: copy it beside your program.

    import emit

    with emit.program():                # connection; exactly one finish, whatever happens
        emit.worker("loading", "reading the model")
        for task in emit.tasks():       # once for a one-off; one after another in a session
            with task:
                emit.text(answer(task.metadata))
"""

import contextlib
import contextvars
import json
import math
import os
import signal
import sys
import threading
import time
import traceback
from typing import Any, Dict, Iterator, Optional

MAX_LINE_BYTES = 1024 * 1024
_DELTA_CHARACTERS = 100_000

_lock = threading.Lock()
_task: "contextvars.ContextVar[Optional[Task]]" = contextvars.ContextVar("task", default=None)
_state: Dict[str, Any] = {"is_finished": False, "takes_tasks": False, "progress": {}}


def emit(event: str, **fields: Any) -> None:
    """Writes one event; those of a session task carry its id."""
    task = _task.get()
    if task is not None and is_session():
        fields.setdefault("task_id", task.id)
    line = _json({"event": event, **fields})
    if len(line) > MAX_LINE_BYTES:
        raise ValueError(f"an event may have {MAX_LINE_BYTES} bytes, this {event} has {len(line)}: write it to a file")
    with _lock:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()


def connection(status: str = "connected", **fields: Any) -> None:
    """The program is up."""
    emit("connection", status=status, **fields)


def worker(status: str, message: str = "", **fields: Any) -> None:
    """What it is doing: initializing, loading, ready, working, waiting, cleaning_up, or any other word."""
    emit("worker", status=status, message=message, **fields)


def text_delta(delta: str) -> None:
    """The next piece of the answer; a very long one goes in several lines."""
    for start in range(0, len(delta) or 1, _DELTA_CHARACTERS):
        emit("text_delta", delta=delta[start : start + _DELTA_CHARACTERS])


def text(content: str) -> None:
    """The whole answer: becomes the result."""
    emit("text", content=content)


def log(message: str, level: str = "info") -> None:
    """A line for people; level is debug, info, warning or error."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    emit("logs", log=message, level=level, timestamp=now)


def progress(percent: Optional[float] = None, operation: Optional[str] = None, **values: float) -> None:
    """How far it is (0 to 100) and in what; what is left out stays as it was said last."""
    task = _task.get()
    last = _state["progress"] if task is None else task.progress
    said = {"percent": percent, "operation": operation}
    last.update({key: value for key, value in said.items() if value is not None})
    emit("progress", **last, **({"metrics": values} if values else {}))


def metrics(**values: float) -> None:
    """Figures by name, such as loss=0.3, beside the progress said last."""
    progress(None, None, **values)


def finish(status: str = "completed", **fields: Any) -> None:
    """The end of the task: message, error, result. Said by itself at the end of `with task` and `with program()`."""
    task = _task.get()
    if _state["is_finished"] if task is None else task.is_finished:
        print("emit: this task has its finish already; another one is not sent", file=sys.stderr)
        return
    emit("finish", status=status, **fields)
    _state["is_finished"] = True
    if task is not None:
        task.is_finished = True


class Task:
    """What is to be done. `with task:` ends it with exactly one finish; in a session a failed task ends only itself."""

    def __init__(self, given: Dict[str, Any]) -> None:
        self.id = str(given.get("task_id", ""))
        self.name = given.get("task_name")
        self.model_id = given.get("model_id")
        self.preset = given.get("task_preset")
        self.metadata: Dict[str, Any] = given.get("metadata") or {}
        self.timeout_seconds = given.get("timeout_seconds")
        self.progress: Dict[str, Any] = {}
        self.is_finished = False
        self._token: Any = None

    def __enter__(self) -> "Task":
        self._token = _task.set(self)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> bool:
        try:
            _finish_with(error, self.is_finished)
        finally:
            _task.reset(self._token)
        if not is_session() or not isinstance(error, Exception):
            return False
        traceback.print_exception(kind, error, trace)
        return True


def is_session() -> bool:
    """Whether this program is kept between tasks."""
    return bool(os.environ.get("SESSION_ID"))


def tasks() -> Iterator[Task]:
    """The task of the environment; in a session those that come on stdin, until it ends."""
    if not is_session():
        metadata = json.loads(os.environ.get("TASK_METADATA") or "{}")
        yield Task({"task_id": os.environ.get("TASK_ID", ""), "metadata": metadata})
        return
    _state["takes_tasks"] = True
    worker("ready")
    for line in sys.stdin.buffer:
        if line.strip():
            task = _task_in(line)
            if task is not None:
                yield task


@contextlib.contextmanager
def program(**fields: Any) -> Iterator[None]:
    """Around all of a program: says connection, ends a request to stop in order, and makes an error a failed finish and exit code 1."""
    try:
        _end_on_sigterm()
        connection(**fields)
        yield
    except BaseException as error:
        _finish_with(error, _is_answered())
        if not isinstance(error, Exception):
            raise
        traceback.print_exc()
        sys.exit(1)
    _finish_with(None, _is_answered())


def _is_answered() -> bool:
    return _state["is_finished"] or _state["takes_tasks"]


def _finish_with(error: Optional[BaseException], is_finished: bool) -> None:
    if is_finished:
        return
    if error is None or (isinstance(error, SystemExit) and not error.code):
        finish()
    elif isinstance(error, Stopped):
        finish("failed", error="stopped by SIGTERM")
    elif isinstance(error, SystemExit):
        finish("failed", error=error.code if isinstance(error.code, str) else f"ended with code {error.code}")
    else:
        finish("failed", error=f"{type(error).__name__}: {error}".rstrip(": "))


class Stopped(SystemExit):
    """SIGTERM came: `finally` blocks still run. Like a program that the signal ended, the exit code is 143."""


def _end_on_sigterm() -> None:
    def stop(_number: int, _frame: Any) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Stopped(143)

    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, stop)


def _task_in(line: bytes) -> Optional[Task]:
    try:
        given = json.loads(line)
        if isinstance(given, dict):
            return Task(given)
    except ValueError:
        pass
    emit("finish", status="failed", error="the line on stdin is no JSON object")
    return None


def _json(value: Dict[str, Any]) -> str:
    try:
        return json.dumps(value, default=str, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), default=str, allow_nan=False)


def _finite(value: Any) -> Any:
    """JSON has no NaN and no infinity: they become null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _finite(one) for key, one in value.items()}
    return [_finite(one) for one in value] if isinstance(value, (list, tuple)) else value
