"""The mount namespace of a root keeper's own, invisible to the rest of the machine."""
import ctypes
import os

from keeper_libc import LIBC, demand

STAGE = "/sys/kernel"  # exists everywhere, is walkable, and no program's folder is ever below it
RDONLY, NOSUID, NODEV, REMOUNT, BIND, RECURSIVE, PRIVATE, SLAVE = 0x1, 0x2, 0x4, 0x20, 0x1000, 0x4000, 0x40000, 0x80000
NEW_MOUNTS, DETACH, MOUNT_SETATTR, AT_FDCWD, AT_RECURSIVE = 0x20000, 0x2, 442, -100, 0x8000


def open_stage():
    """False where the kernel does not allow it."""
    if os.getuid() != 0 or LIBC.unshare(NEW_MOUNTS) != 0:
        return False
    try:
        mount(None, "/", None, RECURSIVE | SLAVE, None)
        mount("tmpfs", STAGE, "tmpfs", NOSUID | NODEV, "mode=0711")
        return True
    except OSError:
        return False


def mount(source, target, kind, flags, data):
    texts = [text and text.encode() for text in (source, target, kind, data)]
    demand(LIBC.mount(*texts[:3], ctypes.c_ulong(flags), texts[3]), source or target)


def drop_mount(target):
    """Gone for everyone who comes; whoever is in it keeps it."""
    LIBC.umount2(target.encode(), DETACH)


def restrict(target, attributes):
    """For a mount and all below it, by a call that kernels have since 5.12."""
    wanted = (ctypes.c_uint64 * 4)(attributes)
    size = ctypes.c_size_t(ctypes.sizeof(wanted))
    asked = [ctypes.c_long(MOUNT_SETATTR), AT_FDCWD, target.encode(), ctypes.c_uint(AT_RECURSIVE), wanted, size]
    demand(LIBC.syscall(*asked), target)
