"""What every sandbox shows of this machine, put together once by a root keeper: a mount that bubblewrap makes itself costs it as much as a tenth of its start."""
import os

from keeper_mounts import BIND, NODEV, NOSUID, PRIVATE, RDONLY, RECURSIVE, REMOUNT, STAGE, drop_mount, mount, restrict

ROOT = f"{STAGE}/root"
PLACES = ["dev", "proc", "tmp", "work"]  # where mounts of each program's own go
NODES = ["null", "zero", "full", "random", "urandom", "tty"]
NODE_LINKS = {"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1",
              "stderr": "/proc/self/fd/2", "core": "/proc/kcore", "ptmx": "pts/ptmx"}


class StandingRoot:
    """Lasts from program to program, which can change nothing in it, for as long as what it shows is still the same."""

    def __init__(self):
        self.made_of, self.is_whole = None, False

    def option(self, system):
        """Shows at once what these options of bubblewrap show one by one; None where the kernel does not allow it."""
        facts = [system, [which(option[1]) for option in system if option[0].startswith("--ro-bind")]]
        if facts != self.made_of:
            self.made_of, self.is_whole = facts, self.make(system)
        return ["--dev-bind", ROOT, "/"] if self.is_whole else None

    def make(self, system):
        """Each mount is as closed as bubblewrap would make it, which finds nothing left to do; none is added later."""
        drop_mount(ROOT)
        os.makedirs(ROOT, exist_ok=True)
        own_mask = os.umask(0o022)
        try:
            mount("tmpfs", ROOT, "tmpfs", 0, "mode=0755")
            for place in PLACES:
                os.mkdir(f"{ROOT}/{place}")
            for option in system:
                add(option)
            restrict(ROOT, RDONLY | NOSUID | NODEV)
            make_devices(f"{ROOT}/dev")
            mount(None, ROOT, None, RECURSIVE | PRIVATE, None)
            return True
        except OSError:
            drop_mount(ROOT)
            return False
        finally:
            os.umask(own_mask)


def which(path):
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def add(option):
    kind, *words = option[2:] if option[0] == "--perms" else option
    place = ROOT + words[-1]
    if kind == "--dev" or (kind == "--ro-bind-try" and not os.path.exists(words[0])):
        return None
    if kind == "--dir":
        return os.makedirs(place, exist_ok=True)
    os.makedirs(os.path.dirname(place), exist_ok=True)
    return {"--symlink": os.symlink, "text": put}.get(kind, show)(words[0], place)


def show(path, place):
    if os.path.isdir(path):
        os.makedirs(place, exist_ok=True)
    else:
        put("", place)
    mount(path, place, None, BIND | RECURSIVE, None)


def put(text, place):
    with open(place, "w", encoding="utf-8") as file:
        file.write(text)


def make_devices(place):
    """As bubblewrap makes them; its terminals are nobody else's."""
    mount("tmpfs", place, "tmpfs", 0, "mode=0755")
    for name in NODES:
        show(f"/dev/{name}", f"{place}/{name}")
    for name, target in NODE_LINKS.items():
        os.symlink(target, f"{place}/{name}")
    os.mkdir(f"{place}/shm")
    os.mkdir(f"{place}/pts")
    mount("devpts", f"{place}/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=620")
    restrict(place, NOSUID)
    mount(None, place, None, REMOUNT | BIND | RDONLY | NOSUID, None)
