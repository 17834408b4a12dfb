"""More ranks of the same program: this process is the first, the others are its children and end with it."""

import contextlib
import os
import socket
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator

import emit

from ..problems import Failed, is_lost_rank

_GRACE_SECONDS = 3
_END_SECONDS = 30
_TAIL_LINES = 15
_IS_CHILD = "STOKER_RANK_OF"


class _Rank:
    """One child: its last lines, and how it ended."""

    def __init__(self, number: int, environment: dict[str, str]) -> None:
        self.number = number
        self.tail: deque[str] = deque(maxlen=_TAIL_LINES)
        words = [sys.executable, "-B", *sys.argv]
        own = {**environment, "RANK": str(number), "LOCAL_RANK": str(number), _IS_CHILD: str(os.getpid())}
        self.process = subprocess.Popen(words, env=own, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace")
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        for line in self.process.stderr or ():
            self.tail.append(line.rstrip())
            print(f"[rank {self.number}] {line}", end="", file=sys.stderr)

    def sentence(self) -> str:
        self.reader.join(_GRACE_SECONDS)
        last = next((line for line in reversed(self.tail) if line.strip()), "it said nothing")
        return f"rank {self.number} ended with code {self.process.returncode}: {last}"


@contextlib.contextmanager
def with_ranks(count: int) -> Iterator[None]:
    """One failing rank ends all of them, and its last line is the reason. Does nothing where a launcher made the ranks."""
    end_with_parent()
    if count == 1 or int(os.environ.get("WORLD_SIZE") or 1) > 1:
        yield
        return
    shared = {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port())}
    if "OMP_NUM_THREADS" not in os.environ:
        shared["OMP_NUM_THREADS"] = str(max(1, (os.cpu_count() or 1) // count))
    os.environ.update({**shared, "RANK": "0", "LOCAL_RANK": "0"})
    ranks = [_Rank(number, dict(os.environ)) for number in range(1, count)]
    failed: list[_Rank] = []
    has_failed, is_over = threading.Event(), threading.Event()
    threading.Thread(target=_watch, args=(ranks, failed, has_failed, is_over), daemon=True).start()
    try:
        yield
        _await(ranks)
        if has_failed.wait(0.2):
            raise Failed(failed[0].sentence())
    except RuntimeError as error:
        if is_lost_rank(error) and has_failed.wait(_GRACE_SECONDS):
            is_over.set()
            raise Failed(failed[0].sentence()) from error
        raise
    finally:
        is_over.set()
        _end(ranks)
        for name in (*shared, "RANK", "LOCAL_RANK"):
            os.environ.pop(name, None)


def end_with_parent() -> None:
    """In a child: the end of stdin is the end of the first rank, however that came."""
    if _IS_CHILD in os.environ:
        threading.Thread(target=lambda: (os.read(0, 1), os._exit(1)), daemon=True).start()


def _watch(ranks: list[_Rank], failed: list[_Rank], has_failed: threading.Event, is_over: threading.Event) -> None:
    """A first rank that waits for a lost one inside a device cannot be told: after the grace it is ended from here."""
    while not is_over.wait(0.05) and not failed:
        failed.extend(rank for rank in ranks if rank.process.poll() not in (None, 0))
    if not failed:
        return
    has_failed.set()
    if not is_over.wait(_GRACE_SECONDS):
        sentence = failed[0].sentence()
        emit.emit("finish", status="failed", error=sentence, result={"error": sentence, "errorDetails": "\n".join(failed[0].tail)})
        os._exit(1)


def _await(ranks: list[_Rank]) -> None:
    """Their work is done with that of the first; one that does not end by itself is ended."""
    for rank in ranks:
        with contextlib.suppress(subprocess.TimeoutExpired):
            rank.process.wait(_END_SECONDS)


def _end(ranks: list[_Rank]) -> None:
    for rank in ranks:
        if rank.process.poll() is None:
            rank.process.terminate()
    for rank in ranks:
        try:
            rank.process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            rank.process.kill()
            rank.process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]
