"""What `network: internet` does not mean: the worker's own machine by any of its addresses, its neighbours, and the
address at which clouds hand out credentials. Routes of a namespace hold for all in it, who cannot change them."""
import os
import socket
import struct

from keeper_libc import enter
from keeper_tree import read

NOT_THE_INTERNET = ["10.0.0.0/8", "100.64.0.0/10", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"]
NEW_ROUTE, REQUEST_ACKED_CREATE = 24, 0x605
MAIN_TABLE, STATIC, PROHIBIT, DESTINATION = 254, 4, 8, 1


def own_addresses():
    """Every IPv4 address of this machine, from the table the kernel keeps of them."""
    found, last = set(), None
    for line in read("/proc/net/fib_trie").splitlines():
        words = line.split()
        if "|--" in words:
            last = words[-1]
        elif words[:3] == ["/32", "host", "LOCAL"] and last and not last.startswith("127."):
            found.add(f"{last}/32")
    return sorted(found)


def close_off(net, user):
    """Forbids these routes in a network namespace; a child enters it, because the keeper could not come back."""
    routes = NOT_THE_INTERNET + own_addresses()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            enter(*([user] if os.getuid() != 0 else []), net)
            with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
                status = max(prohibit(kernel, *route.split("/")) for route in routes)
        finally:
            os._exit(status)
    if os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0:
        raise OSError(0, "its routes to private addresses could not be closed")


def prohibit(kernel, address, bits):
    """0 when the kernel took the route."""
    route = struct.pack("=BBBBBBBBI", socket.AF_INET, int(bits), 0, 0, MAIN_TABLE, STATIC, 0, PROHIBIT, 0)
    body = route + struct.pack("=HH4s", 8, DESTINATION, socket.inet_aton(address))
    kernel.send(struct.pack("=IHHII", 16 + len(body), NEW_ROUTE, REQUEST_ACKED_CREATE, 1, 0) + body)
    return abs(struct.unpack_from("=i", kernel.recv(4096), 16)[0])
