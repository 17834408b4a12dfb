"""One attempt to leave a sandbox per name; prints `got` and what it got, or `no` and why not."""
import ctypes
import glob
import os
import socket
import stat
import sys

libc = ctypes.CDLL(None, use_errno=True)


def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def read(pattern):
    """The first bytes of the first file that fits."""
    paths = glob.glob(pattern)
    if not paths:
        raise OSError(2, "no such file")
    with open(paths[0], "rb") as file:
        return file.read(16)


def connect(host, port):
    socket.create_connection((host, int(port)), timeout=5).close()


def unix(path):
    """A name without a folder may have been filled up with zeros by whoever listens there."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(path if path.startswith("/") else ("\0" + path[1:]).ljust(108, "\0"))


def ptrace(pid):
    checked(libc.ptrace(16, int(pid), None, None))
    os.waitpid(int(pid), 0x40000000)
    checked(libc.ptrace(17, int(pid), None, None))


def mount(place):
    checked(libc.unshare(0x20000))
    checked(libc.mount(b"none", b"/", None, ctypes.c_ulong(0x44000), None))
    checked(libc.mount(b"tmpfs", place.encode(), b"tmpfs", ctypes.c_ulong(0), None))


def namespace():
    checked(libc.unshare(0x10000000))


def device():
    os.mknod("block", stat.S_IFBLK | 0o600, os.makedev(8, 0))
    os.unlink("block")


def write(path):
    with open(path, "a"):
        pass


def setuid(program):
    """As nobody first where that is possible, so that only the bit can make it root."""
    child = os.fork()
    if child == 0:
        if os.getuid() == 0:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
        os.execv(program, [program, "-c", "import os; os._exit(0 if os.geteuid() == 0 else 1)"])
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        raise OSError(1, "it ran without the right")


def processes(reversed_mark):
    """Reversed, so that its own command line is not found."""
    mark = reversed_mark[::-1]
    seen = [pid for pid in os.listdir("/proc") if pid.isdigit() and mark in command(pid)]
    if not [pid for pid in seen if int(pid) != os.getpid()]:
        raise OSError(3, "no such process")


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return file.read()
    except OSError:
        return ""


ATTEMPTS = {each.__name__: each for each in (
    read, connect, unix, ptrace, mount, namespace, device, write, setuid, processes)}
ATTEMPTS["signal"] = lambda pid: os.kill(int(pid), 0)
name, *words = sys.argv[1:]
try:
    print("got", ATTEMPTS[name](*words))
except OSError as error:
    print("no", error.errno)
