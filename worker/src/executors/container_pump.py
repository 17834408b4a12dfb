"""Between a container's attached socket and the three standard descriptors of its runner."""
import os
import select
import socket
import stat
import time

STDIN, CHUNK, TAIL = 0, 1 << 18, 2048
DRAIN_S = 5  # an engine that has told one end of a container, the exit or the stream's, tells the other sooner
NULL_DEVICE = os.makedev(1, 3)
FIRST_SAMPLE_S, LAST_SAMPLE_S = 0.02, 0.5


def has_stdin():
    """A keeper gives the null device to programs that are told nothing."""
    found = os.fstat(STDIN)
    return not (stat.S_ISCHR(found.st_mode) and found.st_rdev == NULL_DEVICE)


class Frames:
    """Takes the engine's frames apart: 1 byte stream, 3 of nothing, 4 of length. They end anywhere, also inside a letter."""

    def __init__(self):
        self.head, self.left, self.out, self.tail = b"", 0, 1, b""

    def take(self, data):
        view, at = memoryview(data), 0
        while at < len(view):
            if self.left == 0:
                wanted = 8 - len(self.head)
                self.head += view[at:at + wanted]
                at += wanted
                if len(self.head) == 8:
                    self.out = 2 if self.head[0] == 2 else 1
                    self.left, self.head = int.from_bytes(self.head[4:], "big"), b""
                continue
            part = view[at:at + self.left]
            at += len(part)
            self.left -= len(part)
            if self.out == 2:
                self.tail = (self.tail + part[-TAIL:])[-TAIL:]
            write_all(self.out, part)


def write_all(fd, part):
    while part:
        part = part[os.write(fd, part):]


class Pump:
    """Runs until the stream is drained and the exit is known, or the engine has gone."""

    def __init__(self, attached, waiting, wake, run):
        self.attached, self.waiting, self.wake = attached, waiting, wake
        self.container, self.every_s = run, FIRST_SAMPLE_S
        self.frames, self.poll, self.unsent = Frames(), select.poll(), b""
        self.is_drained, self.is_told, self.told = False, False, b""

    def run(self, gives_stdin):
        """What the engine said to the wait; empty when it went away instead."""
        self.attached.socket.setblocking(False)
        self.waiting.socket.setblocking(False)
        moves = {self.attached.socket.fileno(): self.read_stream, self.waiting.socket.fileno(): self.read_exit,
                 self.wake: self.read_signals}
        if gives_stdin:
            moves[STDIN] = self.read_stdin
        for fd in moves:
            self.poll.register(fd, select.POLLIN)
        self.frames.take(self.attached.held)
        sample_at, drain_until = time.monotonic() + self.every_s, None
        while not (self.is_drained and self.is_told):
            now = time.monotonic()
            if drain_until is not None and now > drain_until:
                if self.is_told or not self.container.is_alive():
                    break
                drain_until = None  # a program may also close its output and go on
            for fd, event in self.poll.poll(max(0, min(sample_at, drain_until or sample_at) - now) * 1000 + 1):
                if event & select.POLLOUT:
                    self.send_stdin()
                if event & ~select.POLLOUT:
                    moves[fd]()
                    drain_until = None
            if time.monotonic() >= sample_at:
                if self.is_drained and not self.is_told and self.container.has_ended():
                    break
                self.container.look()
                self.every_s = min(LAST_SAMPLE_S, self.every_s * 2)
                sample_at = time.monotonic() + self.every_s
            if drain_until is None and (self.is_drained or self.is_told):
                self.every_s, sample_at = FIRST_SAMPLE_S / 2, time.monotonic()
                drain_until = time.monotonic() + DRAIN_S
        return self.told.partition(b"\r\n\r\n")[2]

    def read_stream(self):
        try:
            data = self.attached.socket.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            return self.frames.take(data)
        self.is_drained = True
        self.container.look()  # the container's groups go a few milliseconds after its last process
        self.poll.unregister(self.attached.socket.fileno())

    def read_exit(self):
        try:
            data = self.waiting.socket.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self.told += data
        if not data:
            self.is_told = True
            self.poll.unregister(self.waiting.socket.fileno())

    def read_signals(self):
        for number in os.read(self.wake, 64):
            self.container.on_signal(number)

    def read_stdin(self):
        self.unsent = os.read(STDIN, 1 << 16)
        self.poll.unregister(STDIN)
        if self.unsent:
            return self.send_stdin()
        try:
            self.attached.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # the container was over before its input was

    def send_stdin(self):
        """One piece at a time: no more is read before the container has taken it."""
        if self.is_drained:
            return
        try:
            self.unsent = self.unsent[self.attached.socket.send(self.unsent):]
        except BlockingIOError:
            pass
        except OSError:
            return self.poll.modify(self.attached.socket.fileno(), select.POLLIN)
        if self.unsent:
            self.poll.modify(self.attached.socket.fileno(), select.POLLIN | select.POLLOUT)
        else:
            self.poll.modify(self.attached.socket.fileno(), select.POLLIN)
            self.poll.register(STDIN, select.POLLIN)
