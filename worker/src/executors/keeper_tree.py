"""Process trees and the cgroups around them: finding, limiting, killing all of one, leaving nothing."""
import ctypes
import os
import signal
import time


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
    ctypes.CDLL(None, use_errno=True).prctl(36, 1, 0, 0, 0)


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


def can_join(home):
    leaf = f"{home}/stoker-probe-{os.getpid()}"
    try:
        os.mkdir(leaf)
    except OSError:
        return False
    joined = tried(write, f"{leaf}/cgroup.procs", os.getpid()) and tried(write, f"{home}/cgroup.procs", os.getpid())
    return tried(os.rmdir, leaf) and joined


def find_groups():
    """For kill, pids, memory, cpu: the folder that takes leaves, and the folder a keeper itself returns to."""
    own = {name: path for _, names, path in (line.split(":", 2) for line in read("/proc/self/cgroup").splitlines())
           for name in names.split(",")}
    groups = {}
    for line in read("/proc/self/mountinfo").splitlines():
        left, _, right = line.partition(" - ")
        (root, mount), (kind, _, options) = left.split()[3:5], right.split(" ", 2)
        names = {"cgroup2": [""], "cgroup": [name for name in ("pids", "memory", "cpu") if name in options.split(",")]}
        for name in names.get(kind, []):
            inside = os.path.relpath(own.get(name, "/.."), root)
            home = os.path.normpath(f"{mount}/{inside}")
            if inside.startswith(".."):
                continue
            if name == "":
                groups = unified_groups(home, mount) | groups
            elif can_join(home):
                groups[name] = (home, home)
    return groups


def unified_groups(home, mount):
    """A v2 group with processes cannot hand on controllers: the nearest ancestor that can takes our groups."""
    if home != mount and tried(os.getxattr, home, "user.delegate"):
        tried(os.mkdir, f"{home}/stoker-worker")
        for pid in read(f"{home}/cgroup.procs").split():
            tried(write, f"{home}/stoker-worker/cgroup.procs", pid)
    folder = home
    while True:
        wanted = [name for name in ("pids", "memory", "cpu") if name in read(f"{folder}/cgroup.controllers").split()]
        for name in wanted:
            tried(write, f"{folder}/cgroup.subtree_control", f"+{name}")
        handed = [name for name in wanted if name in read(f"{folder}/cgroup.subtree_control").split()]
        remove_stale_groups(folder)
        base, rest = f"{folder}/stoker-{os.getpid()}", f"{folder}/stoker-{os.getpid()}/keepers"
        if "pids" in handed and tried(os.makedirs, rest):
            if tried(write, f"{rest}/cgroup.procs", os.getpid()):
                made = [name for name in handed if tried(write, f"{base}/cgroup.subtree_control", f"+{name}")]
                return {name: (base, rest) for name in ["kill", *made]} | {"origin": (home, base)}
            tried(os.rmdir, rest)
            tried(os.rmdir, base)
        if folder == mount:
            return {"kill": (home, home)} if can_join(home) else {}
        folder = os.path.dirname(folder)


def remove_stale_groups(folder):
    """Left by zygotes that were killed; the kernel refuses to remove those in use."""
    for name in os.listdir(folder):
        if name.startswith("stoker-") and name[7:].isdigit() and not os.path.exists(f"/proc/{name[7:]}"):
            tried(os.rmdir, f"{folder}/{name}/keepers")
            tried(os.rmdir, f"{folder}/{name}")


def set_limit(leaves, name, value):
    return any([tried(write, f"{leaf}/{name}", value) for leaf in leaves])


def kill_leaves(leaves):
    """cgroup.kill where the kernel has it; else no new process is allowed and those there are killed."""
    for leaf in leaves:
        if not tried(write, f"{leaf}/cgroup.kill", 1):
            tried(write, f"{leaf}/pids.max", 0)
            for pid in read(f"{leaf}/cgroup.procs").split():
                send_signal(int(pid), signal.SIGKILL)


def remove_leaves(leaves):
    for leaf in leaves:
        for _ in range(200):
            if tried(os.rmdir, leaf) or not os.path.exists(leaf):
                break
            time.sleep(0.001)


def give(folder, uid, gid):
    """Hands a tree to a user; links are changed themselves, never followed."""
    try:
        os.chown(folder, uid, gid)
        for _, folders, files, fd in os.fwalk(folder):
            for name in folders + files:
                os.chown(name, uid, gid, dir_fd=fd, follow_symlinks=False)
    except (OSError, RecursionError):
        pass  # only root gives, and root reads and deletes whatever the owner


def close_groups(groups):
    """The last to leave takes away the groups made for the keepers themselves."""
    if "origin" in groups:
        home, base = groups["origin"]
        tried(write, f"{home}/cgroup.procs", os.getpid())
        remove_leaves([f"{base}/keepers", base])
