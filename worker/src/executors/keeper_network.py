"""The user-mode network of a sandbox: the internet without the host and its neighbours."""
import errno
import fcntl
import os
import select
import time

from keeper_routes import close_off
from keeper_tree import read

NETWORK_READY_S = 10
NS_GET_USERNS = 0xB701  # the user namespace that owns a namespace; only in there may it be configured


def attach_network(slirp, pid, env):
    """Returns once the network of a process is up; slirp4netns stays as a child until it is killed with the tree."""
    await_loopback(pid)
    opened = []
    try:
        opened += [os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC), os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)]
        reader, writer = os.pipe()
        opened += [reader, writer, fcntl.ioctl(opened[1], NS_GET_USERNS)]
        null, net, _, _, user = opened
        rights = ["--enable-sandbox"] if os.getuid() == 0 else [f"--userns-path=/proc/self/fd/{user}"]
        argv = [slirp, "--configure", "--mtu=65520", "--disable-host-loopback", *rights, f"--ready-fd={writer}",
                "--netns-type=path", f"/proc/self/fd/{net}", "tap0"]
        for fd in (net, writer, user):
            os.set_inheritable(fd, True)
        os.posix_spawn(argv[0], argv, env, setsid=True,
                       file_actions=[(os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)])
        os.close(opened.pop(3))
        if not select.select([reader], [], [], NETWORK_READY_S)[0] or os.read(reader, 1) != b"1":
            raise OSError(errno.ENETDOWN, "it ended or did not answer in time")
        close_off(net, user)
    finally:
        for fd in opened:
            os.close(fd)


def await_loopback(pid):
    """Bubblewrap gives the loopback its address and fails if slirp4netns was first: it has done so once the route is there."""
    until = time.monotonic() + NETWORK_READY_S
    while "127.0.0.1" not in read(f"/proc/{pid}/net/fib_trie"):
        if not os.path.exists(f"/proc/{pid}") or time.monotonic() > until:
            raise OSError(errno.ENETDOWN, "the sandbox ended or brought up no loopback in time")
        time.sleep(0.0005)
