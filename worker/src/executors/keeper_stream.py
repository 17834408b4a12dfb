"""One output of a program: moved from its pipe into its file without passing through the keeper's memory."""
import errno
import fcntl
import os

from keeper_sieve import Sieve
from keeper_tree import tried

CHUNK = 1 << 20
PIPE = 1 << 16  # a pipe this full is enlarged: its program prints faster than it is read


class Stream:
    def __init__(self, name, folder, segments=None, said=0):
        self.name, self.size, self.dropped, self.large, self.sieve = name, said, 0, False, None
        self.path, self.file, self.segments, self.heard = f"{folder}/{name}", None, segments, 0
        self.is_waiting = False
        self.pipe, self.inner = os.pipe()
        os.set_blocking(self.pipe, False)

    def move(self, room, null):
        self.turn_page()
        if room > 0 and self.file is None:
            return self.copy(room)
        if room > 0:
            try:
                moved = os.splice(self.pipe, self.file, min(room, CHUNK))
                self.size += moved
                self.enlarge(moved)
                return moved
            except OSError as error:
                if error.errno == errno.EAGAIN:
                    raise
                if error.errno == errno.EINVAL:
                    return self.copy(room)
        if self.name == "stdout":
            return self.sift()
        moved = os.splice(self.pipe, null, CHUNK)
        self.dropped += moved
        return moved

    def sift(self):
        """The limit is reached: says so once, then keeps events and drops the rest."""
        data = os.read(self.pipe, CHUNK)
        if data:
            self.keep_events(data)
        return len(data)

    def keep_events(self, data):
        if self.name != "stdout":
            self.dropped += len(data)
            return
        kept = b""
        if self.sieve is None:
            self.sieve, kept = Sieve(), b"\nstoker: the output limit is reached; only events are kept from here on\n"
        events = self.sieve.events(data)
        self.dropped += len(data) - len(events)
        tried(self.append, kept + events)

    def append(self, data):
        """Many programs print nothing, so the file is opened for the first byte."""
        if not data:
            return
        self.turn_page()
        if self.file is None:
            path = self.segments.next(self.size) if self.segments else self.path
            self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            if self.segments is None and self.size > 0:
                os.lseek(self.file, self.size, os.SEEK_SET)
        while data:
            written = os.write(self.file, data)
            self.size, data = self.size + written, data[written:]

    def turn_page(self):
        if self.file is not None and self.segments and self.segments.is_full(self.size):
            os.close(self.file)
            self.file = None

    def forget(self, heard):
        """A worker has heard so much, and will not ask for it again."""
        self.heard = max(self.heard, heard)
        if self.segments:
            self.segments.forget(heard)

    def copy(self, room):
        """For the first bytes, and for file systems that cannot take a splice."""
        data = os.read(self.pipe, min(room, PIPE))
        self.keep(data)
        return len(data)

    def keep(self, data):
        before = self.size
        try:
            self.append(data)
        except OSError:
            self.dropped += len(data) - (self.size - before)

    def enlarge(self, moved):
        if moved >= PIPE and not self.large:
            self.large = True
            tried(fcntl.fcntl, self.pipe, fcntl.F_SETPIPE_SZ, CHUNK)

    def close(self):
        if self.file is not None:
            os.close(self.file)
        os.close(self.pipe)
