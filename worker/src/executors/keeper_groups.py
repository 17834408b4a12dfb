"""The cgroups around programs: where they may be made, what they limit, and how all in one are killed."""
import os
import signal
import time

from keeper_tree import read, send_signal, tried, write

ORDINARY_SHARE = 10  # in tenths of an ordinary process


class Leaves:
    """The groups a program is born in: the keeper itself steps in, and what it starts is inside from its first moment.

    Stepping in or out after a rest takes the kernel ten milliseconds. So a keeper stays in the groups of its slot while
    it waits and while its program is young, and leaves them before anything in there is killed.
    """

    def __init__(self, name, kinds, groups):
        self.kinds = [kind for kind in kinds if kind in groups]
        self.homes = {f"{groups[kind][0]}/stoker-{name}": groups[kind][1] for kind in self.kinds}
        self.paths, self.inside, self.outside, self.gauge = list(self.homes), [], [], None
        self.limits, self.most_pids, self.cpu_before, self.is_within = {}, 0, b"", False

    def open(self):
        if not self.inside:
            for leaf in self.paths:
                tried(os.mkdir, leaf)
            self.outside = [os.open(f"{home}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC) for home in self.homes.values()]
            self.inside = [os.open(f"{leaf}/cgroup.procs", os.O_WRONLY | os.O_CLOEXEC) for leaf in self.paths]
            self.gauge = self.open_gauge()
        self.cpu_before = self.read_gauge()

    def can_limit(self, limits):
        return "pids" in self.kinds and ("memory" in self.kinds or limits["memoryBytes"] is None)

    def set_limits(self, limits, box_pids):
        self.most_pids = limits["pids"] + box_pids
        self.limit_pids()
        if limits["memoryBytes"] is not None:
            for name in ("memory.max", "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"):
                self.limit(name, limits["memoryBytes"])
            self.limit("memory.swap.max", 0)
        share = ORDINARY_SHARE if limits["cpuShare"] is None else limits["cpuShare"]
        self.limit("cpu.weight", max(1, min(10_000, int(share * 10))))
        self.limit("cpu.shares", max(2, int(share * 102)))

    def limit_pids(self):
        """The keeper does not count against its program."""
        self.limit("pids.max", self.most_pids + self.is_within)

    def limit(self, name, value):
        """Written to whichever group knows it, and only when it is news."""
        if self.limits.get(name) != value:
            self.limits[name] = value
            for leaf in self.paths:
                tried(write, f"{leaf}/{name}", value)

    def enter(self):
        if self.inside and not self.is_within:
            self.is_within = True
            self.limit_pids()
            for group in self.inside:
                os.write(group, b"0")  # the process that writes

    def step_out(self):
        if self.is_within:
            self.is_within = False
            for group in self.outside:
                tried(os.write, group, b"0")
            self.limit_pids()

    def kill(self):
        self.step_out()
        kill_leaves(self.paths)
        self.limits.pop("pids.max", None)

    def pids(self):
        """Of the program and all it started."""
        return [pid for pid in read(f"{self.paths[0]}/cgroup.procs").split() if int(pid) != os.getpid()]

    def cpu_s(self):
        """Also counts children that nobody waited for; 0 where no v2 group is."""
        return used_s(self.read_gauge()) - used_s(self.cpu_before)

    def open_gauge(self):
        path = f"{self.paths[0]}/cpu.stat" if self.paths else ""
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC) if os.path.exists(path) else None

    def read_gauge(self):
        return b"" if self.gauge is None else os.pread(self.gauge, 4096, 0)

    def oom_kills(self):
        files = [f"{leaf}/{name}" for leaf in self.paths for name in ("memory.events", "memory.oom_control")]
        lines = "".join(map(read, files)).splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))

    def remove(self):
        self.step_out()
        for fd in [*self.inside, *self.outside, *([] if self.gauge is None else [self.gauge])]:
            os.close(fd)
        self.inside, self.outside, self.gauge, self.limits = [], [], None, {}
        remove_leaves(self.paths)


def used_s(stat):
    lines = stat.splitlines()
    return max([int(line.split()[1]) / 1e6 for line in lines if line.startswith(b"usage_usec ")], default=0)


def standing_leaves(groups):
    """Of a keeper, for one program after the other."""
    return Leaves(f"k{os.getpid()}", ("kill", "pids", "cpu"), groups)


def leaves_for(order, standing, groups):
    """Fresh ones where memory is counted: what a program leaves there would count against the next."""
    if order["limits"]["memoryBytes"] is None:
        return standing
    standing.step_out()
    return Leaves(order["key"], ("kill", "pids", "memory", "cpu"), groups)


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
    remove_unused(groups)
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
            remove_stale_leaves(f"{folder}/{name}")
            tried(os.rmdir, f"{folder}/{name}/keepers")
            tried(os.rmdir, f"{folder}/{name}")


def remove_stale_leaves(folder):
    """Left by keepers that were killed between two programs."""
    for name in os.listdir(folder):
        if name.startswith("stoker-k") and not os.path.exists(f"/proc/{name[8:]}"):
            tried(os.rmdir, f"{folder}/{name}")


def remove_unused(groups):
    for folder in {folder for kind, (folder, _) in groups.items() if kind != "origin"}:
        remove_stale_leaves(folder)


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


def close_groups(groups):
    """The last to leave takes away the groups made for the keepers themselves."""
    remove_unused(groups)
    if "origin" in groups:
        home, base = groups["origin"]
        tried(write, f"{home}/cgroup.procs", os.getpid())
        remove_leaves([f"{base}/keepers", base])
