"""Paths for a user who may not walk to them: a root worker's folders often lie behind closed ones, such as /root."""
import ctypes
import os

STAGE = "/sys/kernel"  # exists everywhere, is walkable, and no program's folder is ever below it
NEW_MOUNTS, BIND, RECURSIVE, SLAVE, NOSUID_NODEV, DETACH = 0x20000, 0x1000, 0x4000, 0x80000, 0x6, 0x2


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
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.shown, self.lasting, self.count = [], {}, 0
        self.is_open = os.getuid() == 0 and self.open()

    def open(self):
        return (self.libc.unshare(NEW_MOUNTS) == 0 and self.mount(None, "/", None, RECURSIVE | SLAVE, None)
                and self.mount("tmpfs", STAGE, "tmpfs", NOSUID_NODEV, "mode=0711"))

    def mount(self, source, target, kind, flags, data):
        texts = [text and text.encode() for text in (source, target, kind, data)]
        return self.libc.mount(*texts[:3], ctypes.c_ulong(flags), texts[3]) == 0

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
        if not self.mount(path, target, None, BIND | RECURSIVE, None):
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), path)
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
            self.libc.umount2(target.encode(), DETACH)
            (os.rmdir if is_folder else os.unlink)(target)
