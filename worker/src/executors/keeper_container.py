"""A launch whose program is a container: the keeper's child is the runner, forked from it because a new Python takes long.

runner -removed-> over; runner killed -> remover, which ends and removes what the runner left -> over.
"""
import json
import os
import select
import signal
import sys
import time
import uuid

from container_engine import remove_launched
from container_gauge import kill_all, sample
from container_runner import ContainerRun
from keeper_launch import SWEEP_AGAIN_S, Launch, Refused, signal_of
from keeper_libc import LIBC
from keeper_tree import send_signal

DIE_WITH_PARENT = 1
END_S = 20  # for a runner to have the container killed and removed
REMOVE_S = 20
RUNNER_LIMITS = {"pids": 16, "memoryBytes": None, "cpuShare": None}
RUNNER_KILLED = "the container's runner was killed, and the container with it"
REPORT, NOBODY = 3, 65534


class ContainerLaunch(Launch):
    def __init__(self, order, leaves, tools, stage):
        super().__init__(order, leaves, tools, stage)
        self.limits_by, self.name, self.facts = "cgroup", uuid.uuid4().hex, {}
        self.heard, self.is_removing = b"", False
        self.container = {"engine": order["container"]["engine"], "launch": self.name}
        self.uid = NOBODY if os.getuid() == 0 else None  # the work folder comes back from whomever the runner gives it to

    def plain(self):
        if self.secret_folder.files and not self.order["secrets"]["memoryFolder"]:
            raise Refused("secrets are never written to a disk, and no folder in memory was named for them")
        request, own = self.order["container"]["request"], f"{os.getuid()}:{os.getgid()}"
        if os.getuid() != 0 and request["User"] != own:
            raise Refused(f"a worker that is not root runs containers as its own user {own}, not as {request['User']}")
        for mount in request["HostConfig"]["Mounts"]:
            if not os.path.exists(mount["Source"]):
                raise Refused(f"{mount['Source']} does not exist, and the container is to see it at {mount['Target']}")
        self.secret_folder.fill()
        return [], {}, None

    def spawn(self, _argv, _env, actions):
        self.leaves.open()
        self.leaves.set_limits(RUNNER_LIMITS, 0)
        self.leaves.enter()
        self.report, writer = os.pipe2(os.O_CLOEXEC)
        self.pid = fork(lambda: self.run(actions, writer))
        os.close(writer)

    def run(self, actions, writer):
        for _, fd, number in actions:
            os.dup2(fd, number)
        os.dup2(writer, REPORT)
        os.closerange(REPORT + 1, 1 << 20)
        ContainerRun(self.order, self.name, self.secret_folder.path, REPORT).run()

    def hear(self):
        """Takes in what the runner has reported so far."""
        while self.report is not None and select.select([self.report], [], [], 0)[0]:
            data = os.read(self.report, 1 << 16)
            if not data:
                os.close(self.report)
                self.report = None
            *lines, self.heard = (self.heard + data).split(b"\n")
            for line in lines:
                self.facts |= json.loads(line)
        self.started_ms = self.facts.get("startedAtMs", self.started_ms)

    def is_running(self):
        self.hear()
        return "startedAtMs" in self.facts

    def end_inside(self, is_first):
        if self.is_removing:
            return SWEEP_AGAIN_S  # it ends by itself
        send_signal(self.pid, signal.SIGQUIT if is_first else signal.SIGKILL)
        return END_S if is_first else SWEEP_AGAIN_S

    def goes_on(self):
        self.hear()
        if self.is_removing or "removed" in self.facts:
            return False
        self.is_removing = True
        self.leaves.step_out()
        self.pid = fork(self.remove)
        return True

    def remove(self):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.closerange(REPORT, 1 << 20)
        if not remove_launched(self.order["container"]["engine"], self.name, REMOVE_S, "id" not in self.facts):
            kill_all(self.facts.get("folders", []))

    def has_oom(self):
        return self.end().get("oom", False)

    def end(self):
        self.hear()
        return self.facts.get("end", {})

    def use(self):
        self.hear()
        now = sample(self.facts.get("folders", []))
        return now.get("cpu_s", 0), max(0, now.get("used", 0) - now.get("idle", 0)), int(now.get("pids", 0))

    def whole_use(self):
        seen = self.end().get("seen", {})
        return seen.get("cpu_s", 0), int(max(seen.get("peak", 0), seen.get("rss", 0)))

    def outcome(self, status, cause, oom):
        end = self.end()
        if end.get("startError"):
            return None, None, end["startError"]
        if "code" in end:
            killer = "SIGKILL" if oom else signal_of(end["code"], cause)
            return (None, killer, None) if killer else (end["code"], None, None)
        if cause is None and "startedAtMs" not in self.facts:
            return None, None, "the container runner was killed before its container had started"
        return None, "SIGKILL", None

    def more_of_start(self):
        return {"containerId": self.facts["id"]} if "id" in self.facts else {}

    def more_of_exit(self, cause):
        end, more = self.end(), self.more_of_start()
        lost = end.get("lost") if end else cause is None and "startedAtMs" in self.facts and RUNNER_KILLED
        if "endedAtMs" in end:
            more["endedAtMs"] = end["endedAtMs"]
        if lost:
            more |= {"lost": lost, "exitCode": None, "signal": None}
        return more

    def close(self):
        super().close()
        if self.report is not None:
            os.close(self.report)


def fork(action):
    """A child that goes when its keeper does, and never returns."""
    keeper = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        LIBC.prctl(DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
        if os.getppid() == keeper:
            os.setsid()
            action()
            status = 0
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)
