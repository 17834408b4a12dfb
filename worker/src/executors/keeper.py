"""The zygote: forks keepers quickly, and cleans up after one that was killed.

worker --spawns once--> zygote --forks--> one keeper per slot --posix_spawn--> program (or bubblewrap around it)
It leaves when no worker is attached and its last keeper has left. Usage: keeper.py RUNTIME_DIR IDLE_SECONDS TOOL_PATH
"""
import json
import os
import resource
import select
import signal
import socket
import sys
import time

if sys.version_info < (3, 10):
    sys.exit(f"keepers need Python 3.10 or later, {sys.executable} is {sys.version.split()[0]}")

from container_engine import remove_launched
from keeper_exit import has_exit, lost_exit, save_exit
from keeper_groups import close_groups, find_groups, kill_leaves, remove_leaves, remove_unused
from keeper_secrets import remove_secrets
from keeper_slot import Keeper
from keeper_tree import become_subreaper, give, identity, kill_below, read, send_signal, tried, wake_on_child

UNATTENDED_S = 30  # a zygote whose worker died between spawn and connect
GONE_WITHIN_S = 5
REMOVE_S = 10  # the last of a container; the next worker's start finds what an engine that hangs keeps for longer
DYING_S = 0.5  # between the end of a keeper's connection and its own end


def listen(path):
    """Bound under another name first, so whoever sees the path can connect to it."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    tried(os.unlink, path + "~")
    listener.bind(path + "~")
    listener.listen(8)
    os.rename(path + "~", path)
    return listener


def marked(key):
    """Processes that carry the attempt's mark: the last resort when neither cgroup nor parentage is left."""
    mark = f"STOKER_ATTEMPT={key}"
    pids = filter(str.isdigit, os.listdir("/proc"))
    return [int(pid) for pid in pids if mark in read(f"/proc/{pid}/environ").split("\0")]


def is_alive(state):
    return state["start"] != "" and identity(state["pid"]) == {name: state[name] for name in ("boot", "pid", "start")}


def sweep(runtime, slot, keepers, force=False):
    """Ends what a vanished keeper left and names its attempt; one that lives is only ended by force.

    The exit record is written here unless the keeper had come to it.
    """
    try:
        state = json.loads(read(f"{runtime}/k{slot}.json").split("\n")[0] or "{}")
    except ValueError:
        state = {}
    until = time.monotonic() + DYING_S
    while "key" in state and not force and is_alive(state) and time.monotonic() < until:
        time.sleep(0.002)
    if "key" in state and is_alive(state):
        if not force:
            return None
        send_signal(state["pid"], signal.SIGKILL)
    reap(keepers)
    if slot not in keepers.values():
        tried(os.unlink, f"{runtime}/k{slot}.sock")
    if "key" not in state:
        return None
    if state["boot"] == identity(os.getpid())["boot"]:
        end_attempt(state, keepers)
    is_over, container = has_exit(state["folder"], state["key"]), state.get("container")
    if container:
        remove_launched(container["engine"], container["launch"], REMOVE_S, may_come=not is_over)
    if not is_over:
        tried(save_exit, state["folder"], state["key"], json.dumps(lost_exit(state["startedAtMs"])).encode())
    return {name: state[name] for name in ("key", "folder", "startedAtMs")}


def end_attempt(state, keepers):
    """By cgroup, by parentage (orphans of a keeper come to the zygote) and by mark, until all three find nobody."""
    until = time.monotonic() + GONE_WITHIN_S
    while time.monotonic() < until:
        kill_leaves(state["leaves"])
        left = [*kill_below(os.getpid(), set(keepers)), *marked(state["key"])]
        for pid in left:
            send_signal(pid, signal.SIGKILL)
        reap(keepers)
        if not left:
            break
        time.sleep(0.002)
    remove_leaves(state["leaves"])
    remove_secrets(state.get("secrets"))
    if state["uid"] is not None:
        give(f"{state['folder']}/work", os.getuid(), os.getgid())


def reap(keepers):
    """Collects the dead; answers with the slots whose keeper was among them."""
    vacant = []
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return vacant
        if pid == 0:
            return vacant
        if pid in keepers:
            vacant.append(keepers.pop(pid))


class Zygote:
    def __init__(self, runtime, idle_s, tools):
        self.runtime, self.idle_s, self.tools = runtime, idle_s, tools
        self.groups = find_groups()
        self.keepers, self.workers = {}, {}
        self.listener = listen(f"{runtime}/zygote.sock")
        self.wake = wake_on_child()

    def serve(self):
        until = time.monotonic() + UNATTENDED_S
        while self.keepers or self.workers or time.monotonic() < until:
            ready, _, _ = select.select([self.listener, self.wake, *self.workers], [], [], UNATTENDED_S)
            if self.listener in ready:
                until = 0
                self.workers[self.listener.accept()[0]] = b""
            for worker in [worker for worker in ready if worker in self.workers]:
                self.hear(worker)
            if self.wake in ready:
                tried(os.read, self.wake, 4096)
                for slot in reap(self.keepers):
                    sweep(self.runtime, slot, self.keepers)
                    remove_unused(self.groups)
        tried(os.unlink, f"{self.runtime}/zygote.sock")
        close_groups(self.groups)

    def hear(self, worker):
        try:
            data = worker.recv(65536)
        except OSError:
            data = b""
        if not data:
            del self.workers[worker]
            worker.close()
            return
        *lines, self.workers[worker] = (self.workers[worker] + data).split(b"\n")
        for line in lines:
            request, answer = json.loads(line), None
            if request["op"] == "keeper":
                self.fork(request["slot"])
            else:
                answer = sweep(self.runtime, request["slot"], self.keepers, request["op"] == "force")
            tried(worker.sendall, json.dumps({"event": "done", "id": request["id"], "answer": answer}).encode() + b"\n")

    def fork(self, slot):
        """One that has taken its socket away is leaving: its successor waits for it."""
        path = f"{self.runtime}/k{slot}.sock"
        for gone in reap(self.keepers):
            sweep(self.runtime, gone, self.keepers)
        for pid in [pid for pid, held in self.keepers.items() if held == slot]:
            if os.path.exists(path):
                return
            os.waitpid(pid, 0)
            del self.keepers[pid]
        listener = listen(path)
        pid = os.fork()
        if pid:
            self.keepers[pid] = slot
            listener.close()
            return
        status = 1
        try:
            os.setsid()
            for held in [self.listener, *self.workers]:
                held.close()
            Keeper(slot, listener, self.runtime, self.tools, self.idle_s, self.groups).serve()
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)


if __name__ == "__main__":
    os.closerange(3, 1 << 20)  # whatever the worker inherited without knowing stays with the worker
    become_subreaper()
    os.umask(0o022)
    resource.setrlimit(resource.RLIMIT_CORE, (1, 1))  # too small for a file, and the one size no handler is given
    zygote = Zygote(sys.argv[1], float(sys.argv[2]), sys.argv[3])
    os.write(1, b"ready\n")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)  # also of programs that are given nothing to read
    os.dup2(null, 1)
    zygote.serve()
