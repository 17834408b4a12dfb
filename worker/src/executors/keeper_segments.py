"""The output of a program that lives long: files of a few megabytes, each named by where it begins, removed once heard."""
import os

from keeper_tree import tried

SEGMENT = 4 << 20
BACKLOG = 64 << 20  # of output that no worker has heard: a program that prints more waits, and nothing is dropped


class Segments:
    def __init__(self, path):
        self.path, self.starts = path, []

    def is_full(self, size):
        return size - self.starts[-1] >= SEGMENT

    def next(self, size):
        """The path of the file that begins here."""
        self.starts.append(size)
        return f"{self.path}.{size}"

    def forget(self, heard):
        """Files of which everything was heard go, except the one that is written."""
        while len(self.starts) > 1 and self.starts[1] <= heard:
            tried(os.unlink, f"{self.path}.{self.starts.pop(0)}")
