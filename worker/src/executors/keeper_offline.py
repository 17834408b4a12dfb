"""The network of programs that have none: a loopback, and nothing else."""
import contextlib
import fcntl
import os
import socket
import struct

from keeper_libc import LIBC, enter
from keeper_tree import tried, write

NEW_NETWORK = 0x40000000
SET_FLAGS, IS_UP = 0x8914, 0x1


class OfflineNetwork:
    """A root keeper's own, for one program after the other: all sockets of a program end with it, and nothing else there can be changed.

    Making and removing one for each program costs the kernel as much as starting it.
    """

    def __init__(self):
        self.outside = self.inside = None

    def make(self):
        """False where the kernel does not allow it, as it did not the first time."""
        if self.outside is None:
            self.outside = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            if LIBC.unshare(NEW_NETWORK) == 0:
                try:
                    if prepare_loopback():
                        self.inside = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
                finally:
                    enter(self.outside)
        return self.inside is not None

    @contextlib.contextmanager
    def entered(self):
        enter(self.inside)
        try:
            yield
        finally:
            enter(self.outside)


def prepare_loopback():
    """Up, and with ports that are free at once when their last connection was closed; False where that cannot be had."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as kernel:
        is_up = tried(fcntl.ioctl, kernel, SET_FLAGS, struct.pack("16sh14x", b"lo", IS_UP))
    return is_up and tried(write, "/proc/sys/net/ipv4/tcp_max_tw_buckets", 0)
