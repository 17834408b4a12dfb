"""What Python 3.10 does not offer of the C library."""
import ctypes
import os

LIBC = ctypes.CDLL(None, use_errno=True)


def demand(result, about):
    """Raises what went wrong with it, unless a call answered 0."""
    if result != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), about)


def enter(*namespaces):
    for fd in namespaces:
        demand(LIBC.setns(fd, 0), "a namespace")
