"""Limits that no kernel holds for us: they are looked at now and then."""
import os
import time

from keeper_tree import tried

EVERY_S = 0.5
RESERVE = 1 << 30  # of free disk that no program takes from all others and the worker itself
REST = 20  # looking takes at most a twentieth of a processor, however many files there are


class Sampler:
    def __init__(self, order, limits_by):
        limits = order["limits"]
        self.memory = limits["memoryBytes"] if limits_by != "cgroup" else None
        self.disk, self.folder, self.every_s = limits["diskBytes"], f"{order['folder']}/work", EVERY_S

    def breach(self, usage):
        """Which limit is exceeded, or None."""
        began = time.monotonic()
        if self.memory is not None and usage()[1] > self.memory:
            return "memory"
        if self.disk is None:
            self.disk = fair_disk(self.folder)
        if disk_use(self.folder, self.disk) > self.disk:
            return "disk"
        self.every_s = max(EVERY_S, (time.monotonic() - began) * REST)
        return None


def fair_disk(folder):
    """For a program without a limit of its own: what was free before it, but a reserve, and at most nine tenths."""
    disk = os.statvfs(folder)
    free = disk.f_bavail * disk.f_frsize + disk_use(folder, disk.f_blocks * disk.f_frsize)
    return int(min(free * 0.9, max(free - RESERVE, free / 2)))


def disk_use(folder, enough):
    """Bytes the folder really takes, counted until there are more than enough; a closed folder is opened to look."""
    total, left = 0, [folder]
    while left and total <= enough:
        path = left.pop()
        try:
            entries = os.scandir(path)
        except PermissionError:
            tried(os.chmod, path, 0o700)
            entries = tried(os.scandir, path) or []
        except OSError:
            continue
        for entry in entries:
            try:
                total += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
            except OSError:
                continue
    return total
