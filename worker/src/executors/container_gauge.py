"""What a container uses, read from its cgroups without asking the engine."""
import os
import signal

from keeper_tree import read, send_signal

FILES = {
    "cpu_s": (("cpuacct.usage", 1e9), ("cpu.stat usage_usec", 1e6)),
    "used": (("memory.usage_in_bytes", 1), ("memory.current", 1)),
    "idle": (("memory.stat total_inactive_file", 1), ("memory.stat inactive_file", 1)),
    "peak": (("memory.max_usage_in_bytes", 1), ("memory.peak", 1)),
    "pids": (("pids.current", 1),),
    "oom_kills": (("memory.oom_control oom_kill", 1), ("memory.events oom_kill", 1)),
}


def folders_of(pid, container):
    """The groups of a process that are this container's alone; a number may mean somebody else by now, and some are shared."""
    lines = read(f"/proc/{pid}/cgroup").splitlines()
    paths = {name: path for _, names, path in (line.split(":", 2) for line in lines)
             for name in names.split(",") if container in path}
    found = []
    for line in read("/proc/self/mountinfo").splitlines():
        left, _, right = line.partition(" - ")
        (root, mount), (kind, _, options) = left.split()[3:5], right.split(" ", 2)
        names = {"cgroup2": [""], "cgroup": options.split(",")}.get(kind, [])
        path = next((paths[name] for name in names if name in paths), None)
        if path is not None:
            found.append(os.path.normpath(f"{mount}/{os.path.relpath(path, root)}"))
    return found


def sample(folders):
    """Only what the kernel tells here and now: nothing is left of a group once its container is over."""
    seen = {}
    for name, sources in FILES.items():
        values = [value / unit for source, unit in sources for value in values_of(source, folders)]
        if values:
            seen[name] = max(values)
    return seen


def values_of(source, folders):
    file, _, key = source.partition(" ")
    for folder in folders:
        for line in read(f"{folder}/{file}").splitlines():
            name, _, value = line.rpartition(" ")
            if name == key and value.isdigit():
                yield int(value)


def kill_all(folders):
    """Where the engine does not answer any more."""
    for pid in {pid for folder in folders for pid in read(f"{folder}/cgroup.procs").split()}:
        send_signal(int(pid), signal.SIGKILL)


def is_inside(pid, container):
    return container in read(f"/proc/{pid}/cgroup")
