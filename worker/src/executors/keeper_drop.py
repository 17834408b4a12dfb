"""A root keeper starts a sandbox as another user: itself where that is safe, else by setpriv, which costs as much as a program."""
import functools
import os
import signal

from keeper_tree import read

DEFAULTS = {"setsid": True, "setsigmask": [], "setsigdef": [signal.SIGPIPE, signal.SIGXFSZ]}


def keeps_powers(program):
    """Whether more than the user id must be dropped: powers that outlive it, or a program that takes them anew."""
    return hands_on_powers() or os.stat(program).st_mode & 0o6000 != 0


@functools.cache
def hands_on_powers():
    """Looked at once: a keeper never changes its own."""
    status = read("/proc/self/status").splitlines()
    return any(int(line.split()[1], 16) for line in status if line.startswith(("CapInh:", "CapAmb:")))


def spawn(argv, env, actions, uid):
    """Only the real ids are lent to the child; it takes them for all others, and execve makes that final."""
    if uid is None:
        return os.posix_spawn(argv[0], argv, env, file_actions=actions, **DEFAULTS)
    groups = os.getgroups()
    try:
        os.setgroups([])
        os.setresgid(uid, 0, 0)
        os.setresuid(uid, 0, 0)
        return os.posix_spawn(argv[0], argv, env, file_actions=actions, resetids=True, **DEFAULTS)
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups(groups)
