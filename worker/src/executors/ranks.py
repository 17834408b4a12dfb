"""Starts a program once for every rank and ends all of them together: `ranks.py COUNT GRACE_SECONDS TOLD program args...`.

TOLD says who tells the ranks that they are to stop: `by-us`, or `by-others` where the whole tree gets the signal and a
second one would interrupt what the first began.

Rank 0 speaks for the program: its stdout is ours. Lines of the others go to stderr behind their rank. The first rank
that fails stops the rest (TERM, a grace, KILL); its exit code becomes ours and its last lines our last words.
"""
import os
import selectors
import signal
import socket
import sys
import time

TAIL_LINES = 8
CHUNK = 1 << 16
NEVER_STARTED = 127
# All ranks are on this machine; the name of the machine may lead elsewhere, or nowhere in a sandbox.
LOOPBACK = {"GLOO_SOCKET_IFNAME": "lo0" if sys.platform == "darwin" else "lo"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def write_all(fd, data):
    while data:
        data = data[os.write(fd, data):]


class Talk:
    """Our stderr, on which whole lines of many ranks never cut each other."""

    def __init__(self):
        self.is_at_start = True

    def raw(self, data):
        if data:
            write_all(2, data)
            self.is_at_start = data.endswith(b"\n")

    def line(self, data):
        self.raw((b"" if self.is_at_start else b"\n") + data + b"\n")


class Output:
    """What one rank says on one pipe; rank 0 is passed on as it comes, the others line by line."""

    def __init__(self, rank, pipe, talk, tail):
        self.rank, self.pipe, self.talk, self.tail, self.rest = rank, pipe, talk, tail, b""

    def read(self):
        """False at its end."""
        data = os.read(self.pipe, CHUNK)
        if self.rank == 0:
            self.talk.raw(data)
        *lines, self.rest = (self.rest + data).split(b"\n")
        if self.rest and (not data or len(self.rest) > CHUNK):
            lines, self.rest = [*lines, self.rest], b""
        for line in lines:
            if self.rank != 0:
                self.talk.line(b"[rank %d] %s" % (self.rank, line))
            self.tail.append(line)
        del self.tail[:-TAIL_LINES]
        return bool(data)


class Ranks:
    def __init__(self, count, grace_s, passes_on, argv):
        self.count, self.grace_s, self.argv, self.talk = count, grace_s, argv, Talk()
        self.pids, self.codes, self.tails = {}, {}, [[] for _ in range(count)]
        self.pipes, self.failed, self.asked_at, self.has_killed = selectors.DefaultSelector(), None, None, False
        self.is_told, self.has_passed_on = False, not passes_on

    def run(self):
        self.watch_signals()
        try:
            self.start()
        except OSError as error:
            self.signal_all(signal.SIGKILL)
            self.talk.line(f"rank {len(self.pids)} could not start {self.argv[0]}: {error.strerror}".encode())
            return NEVER_STARTED
        while self.pids or len(self.pipes.get_map()) > 1:
            self.step()
        return self.outcome()

    def watch_signals(self):
        """A signal wakes the loop by a byte, so none is missed between two looks."""
        self.wake, waker = os.pipe()
        for end in (self.wake, waker):
            os.set_blocking(end, False)
        signal.set_wakeup_fd(waker)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.told)
        self.pipes.register(self.wake, selectors.EVENT_READ)

    def start(self):
        common = {**LOOPBACK, **os.environ, "WORLD_SIZE": str(self.count), "LOCAL_WORLD_SIZE": str(self.count),
                  "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
        for rank in range(self.count):
            names = ["stderr"] if rank == 0 else ["stdout", "stderr"]
            ends = {name: os.pipe() for name in names}
            actions = [(os.POSIX_SPAWN_DUP2, ends[name][1], 1 if name == "stdout" else 2) for name in names]
            env = {**common, "RANK": str(rank), "LOCAL_RANK": str(rank), "GROUP_RANK": "0"}
            self.pids[os.posix_spawnp(self.argv[0], self.argv, env, file_actions=actions,
                                      setsigdef=[signal.SIGINT, signal.SIGTERM])] = rank
            for reader, writer in ends.values():
                os.close(writer)
                self.pipes.register(reader, selectors.EVENT_READ, Output(rank, reader, self.talk, self.tails[rank]))

    def step(self):
        for key, _ in self.pipes.select(self.patience()):
            if key.data is None:
                os.read(self.wake, CHUNK)
            elif not key.data.read():
                self.pipes.unregister(key.fd)
                os.close(key.fd)
        if self.is_told and not self.has_passed_on:
            self.has_passed_on = True
            self.signal_all(signal.SIGTERM)
        self.reap()
        if self.asked_at is not None and not self.has_killed and time.monotonic() >= self.asked_at + self.grace_s:
            self.has_killed = True
            self.signal_all(signal.SIGKILL)
        if not self.pids:
            self.drain()

    def patience(self):
        if self.asked_at is None or self.has_killed:
            return None
        return max(0.0, self.asked_at + self.grace_s - time.monotonic())

    def reap(self):
        while self.pids:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                return
            rank = self.pids.pop(pid, None)
            if rank is None:
                continue
            self.codes[rank] = os.waitstatus_to_exitcode(status)
            if self.codes[rank] != 0 and self.failed is None and not self.is_told:
                self.failed = rank
                self.stop()

    def drain(self):
        """Everything a rank has said is read; what its children may still say is theirs."""
        for key in [key for key in self.pipes.get_map().values() if key.data is not None]:
            os.set_blocking(key.fd, False)
            try:
                while key.data.read():
                    pass
            except BlockingIOError:
                pass
            self.pipes.unregister(key.fd)
            os.close(key.fd)

    def told(self, *_):
        """Who asked us to end gives the grace: the ranks get as long as we do. A second signal may come in here."""
        self.is_told = True

    def stop(self):
        if self.asked_at is None:
            self.asked_at = time.monotonic()
            self.signal_all(signal.SIGTERM)

    def signal_all(self, number):
        for pid in list(self.pids):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def outcome(self):
        """0 only when every rank ended well."""
        if self.failed is None:
            return next((exit_code(code) for _, code in sorted(self.codes.items()) if code != 0), 0)
        code = self.codes[self.failed]
        how = f"exit code {code}" if code > 0 else signal.Signals(-code).name
        self.talk.line(f"rank {self.failed} of {self.count} failed with {how}, the others were stopped".encode())
        for line in self.tails[self.failed]:
            self.talk.line(line)
        return exit_code(code)


def exit_code(code):
    """A signal as shells tell it."""
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(Ranks(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3] == "by-us", sys.argv[4:]).run())
