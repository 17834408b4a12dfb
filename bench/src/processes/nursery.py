"""Runs a daemon and takes in whatever it orphans, so that all of it is one tree: counted as ours, and gone with us."""

import ctypes
import os
import signal
import sys
import time

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
GRACE_S = 2.0


class Told(Exception):
    pass


def main(command: list[str]) -> int:
    signal.signal(signal.SIGTERM, on_stop)
    # A terminal tells all of us at once; the bench, which knows the order, tells us again.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    code = 0
    try:
        first = os.posix_spawn(command[0], command, os.environ, setsigdef=[signal.SIGTERM, signal.SIGINT])
        while True:
            pid, status = os.wait()
            if pid == first:
                code = os.waitstatus_to_exitcode(status)
    except ChildProcessError:
        return abs(code)
    except Told:
        end_all()
        return 0


def on_stop(*_: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Told


def end_all() -> None:
    """Those below a child become children when it ends, so the last one is found in the end."""
    deadline = time.monotonic() + GRACE_S
    asked: set[int] = set()
    while True:
        kill = time.monotonic() > deadline
        for pid in children():
            if kill or pid not in asked:
                os.kill(pid, signal.SIGKILL if kill else signal.SIGTERM)
                asked.add(pid)
        try:
            while os.waitpid(-1, os.WNOHANG)[0] != 0:
                pass
        except ChildProcessError:
            return
        time.sleep(0.01)


def children() -> list[int]:
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", encoding="utf8", errors="replace") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == os.getpid():
            found.append(int(name))
    return found


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
