"""Process trees: finding all of one, killing all of it, and what it uses."""
import os
import signal

from keeper_libc import LIBC


def read(path):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ""
    parts = []
    try:
        while part := os.read(fd, 1 << 16):
            parts.append(part)
    except OSError:
        pass  # a process that ended between open and read
    finally:
        os.close(fd)
    return b"".join(parts).decode("utf-8", "replace")


def write(path, text):
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, str(text).encode())
    finally:
        os.close(fd)


def tried(action, *args):
    try:
        action(*args)
        return True
    except OSError:
        return False


def stat_of(pid):
    return read(f"/proc/{pid}/stat").rpartition(")")[2].split()


def use_of(pids):
    """CPU seconds, those of reaped children included, and resident bytes of all together."""
    stats = [fields for fields in map(stat_of, pids) if fields]
    ticks = sum(sum(map(int, fields[11:15])) for fields in stats)
    return ticks / os.sysconf("SC_CLK_TCK"), sum(int(fields[21]) for fields in stats) * os.sysconf("SC_PAGE_SIZE")


def identity(pid):
    fields = stat_of(pid)
    alive = fields and fields[0] not in "ZX"
    return {"boot": read("/proc/sys/kernel/random/boot_id").strip(), "pid": pid, "start": fields[19] if alive else ""}


def become_subreaper():
    LIBC.prctl(36, 1, 0, 0, 0)


def wake_on_child():
    """A descriptor that becomes readable when a child has ended."""
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    return reader


def send_signal(pid, number):
    tried(os.kill, pid, number)


def descendants(root, spare=()):
    """Living processes below root; subtrees of the spared are left out."""
    children = {}
    for name in os.listdir("/proc"):
        fields = stat_of(name) if name.isdigit() else ()
        if fields and fields[0] not in "ZX" and int(name) not in spare:
            children.setdefault(int(fields[1]), []).append(int(name))
    found, queue = [], [root]
    while queue:
        below = children.get(queue.pop(), [])
        found += below
        queue += below
    return found


def kill_below(root, spare=()):
    """Stops until nothing new appears, then kills: a tree that forks for ever cannot outrun it."""
    seen = set()
    while fresh := set(descendants(root, spare)) - seen:
        for pid in fresh:
            send_signal(pid, signal.SIGSTOP)
        seen |= fresh
    for pid in seen:
        send_signal(pid, signal.SIGKILL)
    return seen


def give(folder, uid, gid):
    """Hands a tree to a user; links are changed themselves, never followed."""
    try:
        os.chown(folder, uid, gid)
        if not os.listdir(folder):
            return
        for _, folders, files, fd in os.fwalk(folder):
            for name in folders + files:
                os.chown(name, uid, gid, dir_fd=fd, follow_symlinks=False)
    except (OSError, RecursionError):
        pass  # only root gives, and root reads and deletes whatever the owner
