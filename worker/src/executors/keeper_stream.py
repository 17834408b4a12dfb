"""One output of a program: moved from its pipe into its file without passing through the keeper's memory."""
import errno
import fcntl
import os

from keeper_tree import tried

CHUNK = 1 << 20
PIPE = 1 << 16  # a pipe this full is enlarged: its program prints faster than it is read


class Stream:
    def __init__(self, name, folder):
        self.name, self.size, self.dropped, self.large = name, 0, 0, False
        self.file = os.open(f"{folder}/{name}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        self.pipe, self.inner = os.pipe()
        os.set_blocking(self.pipe, False)

    def move(self, room, null):
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
        moved = os.splice(self.pipe, null, CHUNK)
        self.dropped += moved
        return moved

    def copy(self, room):
        """For file systems that cannot take a splice."""
        data = os.read(self.pipe, min(room, PIPE))
        kept = 0
        try:
            while kept < len(data):
                kept += os.write(self.file, data[kept:])
        except OSError:
            self.dropped += len(data) - kept
        self.size += kept
        return len(data)

    def enlarge(self, moved):
        if moved >= PIPE and not self.large:
            self.large = True
            tried(fcntl.fcntl, self.pipe, fcntl.F_SETPIPE_SZ, CHUNK)

    def close(self):
        os.close(self.file)
        os.close(self.pipe)
