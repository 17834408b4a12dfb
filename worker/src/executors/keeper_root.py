"""What every sandbox shows of this machine, put together once by a root keeper: a mount that bubblewrap makes itself costs it as much as a tenth of its start."""
import errno
import os

from keeper_mounts import BIND, NODEV, NOSUID, PRIVATE, RDONLY, RECURSIVE, REMOUNT, STAGE, drop_mount, mount, restrict

ROOT = f"{STAGE}/root"
SHOWN = ["--ro-bind", "--ro-bind-try", "staged"]
CLOSED = RDONLY | NOSUID | NODEV
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
        facts = [system, [which(option[-2]) for option in system if option[0] in SHOWN]]
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
            mount(None, ROOT, None, REMOUNT | BIND | CLOSED, None)
            make_devices(f"{ROOT}/dev")
            mount(None, ROOT, None, RECURSIVE | PRIVATE, None)
            return True
        except OSError:
            drop_mount(ROOT)
            return False
        finally:
            os.umask(own_mask)


def which(path):
    """A mount shows whatever comes into the same folder or file, and not another one by its name."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def add(option):
    kind, *words = option[2:] if option[0] == "--perms" else option
    place = ROOT + words[-1]
    if kind == "--dev" or (kind == "--ro-bind-try" and not os.path.exists(words[0])):
        return None
    if kind == "--dir":
        return os.makedirs(place, exist_ok=True)
    os.makedirs(within(os.path.dirname(place)), exist_ok=True)
    if kind in ("--symlink", "text"):
        return (os.symlink if kind == "--symlink" else put)(words[0], place)
    show(words[-2], within(place))
    return restrict(place, CLOSED)


def within(place):
    """Nothing is made where a link of the machine leads."""
    if not f"{os.path.realpath(place)}/".startswith(f"{ROOT}/"):
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV), place)
    return place


def show(path, place):
    if not os.path.exists(place):
        if os.path.isdir(path):
            os.mkdir(place)
        else:
            put("", place)
    mount(path, place, None, BIND | RECURSIVE, None)


def put(text, place):
    with open(place, "x", encoding="utf-8") as file:
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
