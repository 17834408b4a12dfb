"""Paths for a user who may not walk to them: a root worker's folders often lie behind closed ones, such as /root."""
import os

from keeper_mounts import BIND, RECURSIVE, STAGE, drop_mount, mount, open_stage
from keeper_offline import OfflineNetwork
from keeper_root import StandingRoot


def is_walkable(path):
    parent = os.path.dirname(os.path.realpath(path))
    while os.stat(parent).st_mode & 1:
        if parent == "/":
            return True
        parent = os.path.dirname(parent)
    return False


class Stage:
    """A root keeper's own mount namespace, invisible to the rest of the machine; for others paths stay as they are."""

    def __init__(self):
        self.shown, self.lasting, self.count = [], {}, 0
        self.is_open, self.root, self.network = open_stage(), StandingRoot(), OfflineNetwork()

    def system(self, options):
        """One option instead of all these, which show this machine; None where it has to be shown piece by piece."""
        return self.root.option(options) if self.is_open else None

    def offline(self):
        """The network for programs without one; None where each has to be given its own."""
        return self.network if self.is_open and self.network.make() else None

    def show(self, path):
        """Another name for the same folder or file, which everyone may walk to."""
        if not self.is_open or is_walkable(path):
            return path
        self.count += 1
        target, is_folder = f"{STAGE}/{self.count}", os.path.isdir(path)
        if is_folder:
            os.mkdir(target)
        else:
            os.close(os.open(target, os.O_CREAT | os.O_CLOEXEC, 0o600))
        self.shown.append((target, is_folder))
        mount(path, target, None, BIND | RECURSIVE, None)
        return target

    def keep_showing(self, path):
        """For paths that one program after the other sees: as long as it is the same file or folder that is meant."""
        found = os.stat(path)
        which, (before, entry) = (found.st_dev, found.st_ino), self.lasting.pop(path, (None, None))
        if before != which:
            self.shown += [entry] if entry else []
            if self.show(path) == path:
                return path
            entry = self.shown.pop()
        self.lasting[path] = which, entry
        return entry[0]

    def clear(self):
        while self.shown:
            target, is_folder = self.shown.pop()
            drop_mount(target)
            (os.rmdir if is_folder else os.unlink)(target)
