"""Starting one program: its descriptors, cgroup leaves, limits, and bubblewrap around it where ordered."""
import base64
import contextlib
import functools
import json
import os
import select
import shutil
import signal
import time

from keeper_drop import keeps_powers, spawn
from keeper_feed import Feed
from keeper_network import NETWORK_READY_S, attach_network
from keeper_redact import RedactedStream, Redactor, hidden_forms
from keeper_secrets import SecretFolder
from keeper_segments import BACKLOG, Segments
from keeper_stream import Stream
from keeper_tree import give, read, send_signal, tried

NICE = 10
CRASHES = {4, 5, 6, 7, 8, 9, 11, 31}  # signals that no runtime imitates with an exit code of 128 + n
SWEEP_AGAIN_S = 0.02
BOX_PROCESSES = 2  # bubblewrap's monitor and its pid 1 do not count against the program


class Refused(Exception):
    """The program cannot start; the text says why."""


def in_memory(content):
    fd, left = os.memfd_create("text"), content if isinstance(content, bytes) else content.encode()
    while left:
        left = left[os.write(fd, left):]
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


@functools.cache
def path_of(name, tools):
    """Looked for once: a tool that is taken away meanwhile is missed when it is used."""
    found = shutil.which(name, path=tools)
    if not found:
        raise FileNotFoundError(name)
    return found


def signal_of(code, cause):
    """An exit code of 128 + n, as whoever waits inside gives it, is a signal only where that is certain; else None."""
    number = code - 128
    return signal.Signals(number).name if number in CRASHES or (cause and number == signal.SIGTERM) else None


class Launch:
    def __init__(self, order, leaves, tools, stage):
        self.order, self.leaves, self.tools, self.stage = order, leaves, tools, stage
        self.boxed = order["sandbox"] is not None
        self.uid = order["sandbox"]["uid"] if self.boxed else None
        self.pid, self.streams, self.told_at, self.by_setpriv, self.network = 0, [], 0.0, False, None
        self.takes_lines, self.feed, self.urgent = order.get("takesLines", False), None, 0
        self.status_pipe, self.status_text, self.status_over = None, "", False
        self.started_ms, self.network_failed, self.report, self.container = int(time.time() * 1000), None, None, None
        self.secret_folder = SecretFolder(order["secrets"] if not self.boxed else None)
        whole = leaves.can_limit(order["limits"])
        self.limits_by = "cgroup" if whole else "rlimit" if shutil.which("prlimit", path=tools) else "none"

    def tool(self, name, use):
        try:
            return path_of(name, self.tools)
        except FileNotFoundError:
            raise Refused(f"{use} needs {name}, which is not in {self.tools}: install it") from None

    def start(self):
        """Everything opened here is closed here, except the reading ends of the pipes and the files."""
        folder, passed, actions = self.order["folder"], [], []
        try:
            for number, name in enumerate(("stdin", "stdout", "stderr")):
                if name != "stdin":
                    self.streams.append(self.stream(name, folder))
                    passed.append(self.streams[-1].inner)
                elif self.takes_lines:
                    self.feed = Feed()
                    passed.append(self.feed.inner)
                elif self.order["stdin"] is None:
                    continue  # the keeper's own, which is empty
                else:
                    passed.append(in_memory(self.order["stdin"]))  # read at the program's pace, and fed by nobody
                actions.append((os.POSIX_SPAWN_DUP2, passed[-1], number))
            argv, env, unblock = self.box(passed) if self.boxed else self.plain()
            self.spawn(argv, env, actions)
            if unblock is not None:
                self.leaves.step_out()  # its network is not the program's to starve
                self.connect(unblock)
        finally:
            os.chdir("/")
            for fd in passed:
                os.close(fd)

    def stream(self, name, folder):
        forms = hidden_forms(self.order["secrets"])
        segments = Segments(f"{folder}/{name}") if self.takes_lines and name == "stdout" else None
        said = self.order.get("saidBytes", 0) if name == "stderr" else 0
        if forms:
            return RedactedStream(name, folder, Redactor(forms), segments, said)
        return Stream(name, folder, segments, said)

    def room(self, stream):
        """How much of a stream may still be kept; lines of a program that takes tasks are counted by task, not here."""
        limit = self.order["outputLimitBytes"]
        if self.takes_lines:
            return BACKLOG - (stream.size - stream.heard) if stream.segments else limit - stream.size
        return limit - sum(each.size for each in self.streams)

    def plain(self):
        argv, env = self.order["argv"], self.order["env"]
        os.chdir(f"{self.order['folder']}/work")
        path = argv[0] if "/" in argv[0] else shutil.which(argv[0], path=env.get("PATH", os.defpath))
        if path is None or not os.access(path, os.X_OK):
            raise Refused(f"program {argv[0]} not found, PATH is {env.get('PATH', os.defpath)}")
        own = {**self.secret_folder.fill(), "STOKER_ATTEMPT": self.order["key"]}
        return [*self.rlimits(), path, *argv[1:]], {**env, **own}, None

    def rlimits(self):
        """Data rather than address space, which CUDA and V8 reserve freely; a shared uid's own processes are added."""
        if self.limits_by != "rlimit":
            return []
        limits, mine = self.order["limits"], os.getuid()
        shared = 0
        if self.uid is None:
            for name in filter(str.isdigit, os.listdir("/proc")):
                lines = read(f"/proc/{name}/status").splitlines()
                facts = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
                shared += int(facts["Threads"]) if facts.get("Uid", "-1").split()[0] == str(mine) else 0
        data = [] if limits["memoryBytes"] is None else [f"--data={limits['memoryBytes']}"]
        return [self.tool("prlimit", "a limit"), *data, f"--nproc={limits['pids'] + shared + BOX_PROCESSES}", "--"]

    def box(self, passed):
        """Options go through a file in memory: arguments are readable by everyone, environments are not."""
        sandbox, options, before = self.order["sandbox"], [], len(passed)
        if self.uid is not None:
            give(f"{self.order['folder']}/work", self.uid, self.uid)
        for option in self.box_options():
            if option[0] == "staged":
                show = self.stage.show if option[1] == "--bind" else self.stage.keep_showing
                options += [option[1], show(option[2]), option[3]]
            elif option[0] == "text":
                passed.append(in_memory(option[1]))
                options += ["--perms", "0644", "--file", str(passed[-1]), option[2]]
            elif option[0] == "secret":
                passed.append(in_memory(base64.b64decode(option[1])))
                options += ["--perms", "0400", "--file", str(passed[-1]), option[2]]
            else:
                options += option
        self.status_pipe, writer = os.pipe()
        passed.append(writer)
        options += ["--json-status-fd", str(writer), "--setenv", "STOKER_ATTEMPT", self.order["key"]]
        unblock = None
        if sandbox["internet"]:
            self.tool("slirp4netns", "network internet")
            reader, unblock = os.pipe()
            passed += [reader, unblock]
            options += ["--block-fd", str(reader)]
        passed.append(in_memory("\0".join([*options, ""])))
        for fd in passed[before:]:
            os.set_inheritable(fd, fd != unblock)
        bwrap = [self.tool("bwrap", "isolation sandbox"), "--args", str(passed[-1]), "--", *self.order["argv"]]
        self.by_setpriv = self.uid is not None and keeps_powers(bwrap[0])
        return [*self.rlimits(), *self.drop(), *bwrap], {"STOKER_ATTEMPT": self.order["key"]}, unblock

    def box_options(self):
        """With what this keeper has ready for one program after the other in place of what would be made anew."""
        sandbox = self.order["sandbox"]
        options, (first, end) = sandbox["options"], sandbox.get("system") or (0, 0)
        ready = self.stage.system(options[first:end]) if end else None
        if ready:
            after = [option for option in options[end:] if option[0] != "--remount-ro"]  # it is so already
            options = [*options[:first], ready, *after]
        self.network = self.stage.offline() if sandbox.get("offline") else None
        return [*options, ["--share-net"]] if self.network else options

    def drop(self):
        if not self.by_setpriv:
            return []
        user = str(self.uid)
        return [self.tool("setpriv", "isolation sandbox as root"), "--reuid", user, "--regid", user, "--clear-groups",
                "--inh-caps=-all", "--no-new-privs", "--"]

    def spawn(self, argv, env, actions):
        self.leaves.open()
        self.leaves.set_limits(self.order["limits"], BOX_PROCESSES * self.boxed)
        self.leaves.enter()
        self.started_ms = int(time.time() * 1000)
        with self.network.entered() if self.network else contextlib.nullcontext():
            self.pid = spawn(argv, env, actions, None if self.by_setpriv else self.uid)
        tried(os.setpriority, os.PRIO_PROCESS, self.pid, NICE)

    def read_status(self, wait_s):
        """Bubblewrap writes a document in pieces, so a line counts once it is closed."""
        if select.select([self.status_pipe], [], [], wait_s)[0]:
            part = os.read(self.status_pipe, 4096).decode()
            self.status_text, self.status_over = self.status_text + part, part == ""
        facts = {}
        for line in self.status_text.splitlines():
            facts |= json.loads(line) if line.endswith("}") else {}
        return facts

    def inner_pid(self):
        """Bubblewrap's pid 1, below which the program is; None before there is one."""
        return self.read_status(0).get("child-pid")

    def connect(self, unblock):
        """The program waits behind --block-fd until its network is up; without one it never runs."""
        until, pid = time.monotonic() + NETWORK_READY_S, None
        while pid is None and not self.status_over and time.monotonic() < until:
            pid = self.read_status(NETWORK_READY_S).get("child-pid")
        if pid is None and self.status_over:
            return  # bubblewrap failed, and says why itself
        env = {"PATH": self.tools, "STOKER_ATTEMPT": self.order["key"]}
        try:
            attach_network(self.tool("slirp4netns", "network internet"), pid, env)
            os.write(unblock, b"1")
        except OSError as error:
            self.network_failed = f"slirp4netns gave the sandbox no network: {error.strerror}"
            tried(os.kill, self.pid, signal.SIGKILL)

    def outcome(self, status, cause, oom):
        """(exit code, signal, why it never started); a sandbox's 128 + n is a signal only where that is certain."""
        if self.network_failed:
            return None, None, self.network_failed
        if os.WIFSIGNALED(status):
            return None, signal.Signals(os.WTERMSIG(status)).name, None
        code = os.WEXITSTATUS(status)
        if not self.boxed:
            return code, None, None
        facts = self.read_status(0)
        if "exit-code" not in facts and cause is None and not oom:
            first = read(f"{self.order['folder']}/stderr").strip().splitlines()[-1:] or [f"bwrap ended with {code}"]
            return None, None, first[0].replace("bwrap: execvp ", "program not found in the sandbox: ")
        killer = signal_of(code, cause)
        return (None, killer, None) if killer else (code, None, None)

    # where a container differs from a process of the keeper's own

    def is_running(self):
        """Whether the program itself has begun; a start is told of then."""
        return True

    def end_inside(self, is_first):
        """Ends the program from within, and for how long that is left to work; None where it must be killed from here."""
        inner = self.inner_pid() if is_first and self.boxed else None
        if inner is None:
            return None
        send_signal(inner, signal.SIGKILL)  # the kernel ends the whole namespace
        return SWEEP_AGAIN_S

    def goes_on(self):
        """Whether another process takes over from the one that has just ended."""
        return False

    def has_oom(self):
        return self.order["limits"]["memoryBytes"] is not None and self.leaves.oom_kills() > 0

    def use(self):
        """(cpu seconds, resident bytes, processes) where these are not the keeper's descendants."""
        return None

    def whole_use(self):
        return None

    def more_of_start(self):
        return {}

    def more_of_exit(self, cause):
        return {}

    def close(self):
        self.stage.clear()
        self.secret_folder.remove()
        if self.feed is not None:
            self.feed.close()
        for stream in self.streams:
            stream.close()
        if self.status_pipe is not None:
            os.close(self.status_pipe)
