"""One keeper: owns one program at a time, and everything about it that must outlive the worker.

free -start-> running -exit, stop, deadline, abandoned-> sweeping -tree gone, pipes drained, exit.json in place->
ended -release-> free. It leaves when told to, or when no worker has attached for idle_s.
"""
import json
import os
import signal
import time

from keeper_container import ContainerLaunch
from keeper_exit import save_exit
from keeper_groups import leaves_for, standing_leaves
from keeper_launch import SWEEP_AGAIN_S, Launch, Refused
from keeper_limits import Sampler
from keeper_lines import LinesEnd
from keeper_stage import Stage
from keeper_tree import (become_subreaper, descendants, give, identity, kill_below, read, send_signal, tried, use_of,
                         wake_on_child)

TELL_EVERY_S = 0.002  # a flood of output becomes at most 500 notices a second
YOUNG_S = 0.1
TELL_START_S = 0.005  # a silent program that ends sooner is told of once
TURN_BYTES = 8 << 20  # one stream's share before the others are heard


class Keeper(LinesEnd):
    def __init__(self, slot, listener, runtime, tools, idle_s, groups):
        super().__init__(listener)
        become_subreaper()
        self.path, self.runtime, self.slot = f"{runtime}/k{slot}", runtime, slot
        self.tools, self.idle_s, self.groups = tools, idle_s, groups
        self.me = identity(os.getpid())
        self.state = os.open(f"{self.path}.json", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.stage, self.leaves = Stage(), standing_leaves(groups)
        self.launch, self.exit, self.over, self.leaving = None, None, False, False
        self.null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
        self.wake = wake_on_child()
        self.watch(self.wake, self.on_child)
        self.deserted()

    def serve(self):
        while not self.over:
            self.turn()
        tried(os.unlink, f"{self.path}.sock")
        self.leaves.remove()
        if self.launch is None:
            tried(os.unlink, f"{self.path}.json")

    # the worker's side

    def greet(self):
        for action in (self.abandon, self.tell_started):
            self.timers.pop(action, None)
        held = self.launch
        self.tell("hello", holds=held and {
            "key": held.order["key"], "folder": held.order["folder"], **self.start(), "sizes": self.sizes(),
            "lines": self.lines(), "exit": self.exit})

    def deserted(self):
        self.timers[self.abandon] = time.monotonic() + self.idle_s

    def unclogged(self):
        self.timers[self.tell_output] = time.monotonic() + TELL_EVERY_S

    def do_start(self, request):
        """The next order also says that the last result was taken."""
        order = request["order"]
        if self.launch and not self.exit:
            return self.tell("refused", why=f"slot {self.slot} still holds {self.launch.order['key']}")
        self.exit, self.cause, self.status, self.killed, self.breach = None, None, None, False, None
        self.is_asked = False
        self.cpu_s, self.max_rss = 0.0, 0
        kind, leaves = (ContainerLaunch, self.leaves) if order.get("container") else (
            Launch, leaves_for(order, self.leaves, self.groups))
        launch = self.launch = kind(order, leaves, self.tools, self.stage)
        self.record()
        try:
            launch.start()
        except Refused as refusal:
            return self.finish(str(refusal))
        except OSError as error:
            return self.finish(f"{error.filename or ' '.join(order['argv'][:1])}: {error.strerror}")
        self.has_begun = launch.is_running()
        if launch.report is not None:
            self.watch(launch.report, self.on_report)
        for stream in launch.streams:
            self.watch(stream.pipe, lambda stream=stream: self.pump(stream))
        now = time.monotonic()
        self.sampler = Sampler(order, launch.limits_by)
        self.timers[self.sample] = now + self.sampler.every_s
        if self.has_begun:
            self.set_deadline()
            self.timers[self.tell_started] = now + TELL_START_S
        self.timers[launch.leaves.step_out] = now + (YOUNG_S if launch.leaves is self.leaves else 0)

    def on_report(self):
        """A container takes long to start; its time counts from then."""
        launch, pipe = self.launch, self.launch.report
        began, self.has_begun = not self.has_begun, launch.is_running()
        if began and self.has_begun:
            self.set_deadline()
            self.tell_started()
        if launch.report is None:
            self.unwatch(pipe)

    def set_deadline(self):
        if self.launch.order["deadlineMs"] is not None:
            self.timers[self.deadline] = time.monotonic() + self.launch.order["deadlineMs"] / 1000

    def tell_started(self):
        self.tell("started", **self.start())

    def start(self):
        return {"pid": self.launch.pid, "startedAtMs": self.launch.started_ms, **self.launch.more_of_start()}

    def do_stop(self, request):
        grace = request.get("graceMs")
        self.stop(request["cause"], grace if grace is not None or not self.launch else self.launch.order["graceMs"])

    def do_usage(self, request):
        running = self.launch and self.launch.pid and not self.exit
        cpu_s, rss, pids = self.usage() if running else (0, 0, 0)
        usage = {"cpuSeconds": cpu_s, "rssBytes": int(rss), "pids": pids}
        self.tell("usage", id=request["id"], usage=usage if running else None)

    def do_release(self, _):
        if self.exit:
            self.launch, self.exit = None, None
            self.record()

    def do_detach(self, _):
        self.over = self.launch is None

    def do_quit(self, _):
        self.leave("canceled", 0)

    # the program's side

    def record(self):
        """In place and in one write: a killed keeper leaves the old line or the new one."""
        held = self.launch
        facts = {} if held is None else {
            **self.me, "key": held.order["key"], "folder": held.order["folder"], "startedAtMs": held.started_ms,
            "leaves": held.leaves.paths, "uid": held.uid, "secrets": held.secret_folder.path,
            "container": held.container}
        os.pwrite(self.state, json.dumps(facts).ljust(1023).encode() + b"\n", 0)

    def sizes(self):
        return {"stdout": 0, "stderr": 0} | {stream.name: stream.size for stream in self.launch.streams}

    def pump(self, stream, turn=TURN_BYTES, is_last=False):
        """Moves what the pipe holds into the file; past the limit it is counted and dropped, never left to block.

        Only what a program that takes lines has printed without being heard by any worker waits in the pipe.
        """
        while turn > 0:
            room = self.launch.room(stream)
            if room <= 0 and stream.segments:
                if not is_last:
                    stream.is_waiting = True
                    self.unwatch(stream.pipe)
                    break
                room = turn
            try:
                moved = stream.move(room, self.null)
            except BlockingIOError:
                break
            if moved == 0:
                self.unwatch(stream.pipe)
                break
            turn -= moved
            if self.tell_output not in self.timers:
                self.timers[self.tell_output] = 0 if self.launch.urgent else self.launch.told_at + TELL_EVERY_S

    def tell_output(self):
        if self.launch and not self.exit and self.outbox == b"":
            if not self.has_begun:
                self.on_report()
            if self.timers.pop(self.tell_started, None) is not None:
                self.say("started", **self.start())
            self.launch.told_at, self.launch.urgent = time.monotonic(), max(0, self.launch.urgent - 1)
            self.tell("output", **self.sizes())

    def on_child(self):
        tried(os.read, self.wake, 4096)
        if self.launch and not self.exit:
            self.reap()

    def reap(self):
        """The keeper is the subreaper: once it has no child at all, nothing of the attempt is left anywhere."""
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return self.finish(None) if self.status is not None else None
            if pid == 0:
                break
            self.cpu_s += used.ru_utime + used.ru_stime
            self.max_rss = max(self.max_rss, used.ru_maxrss * 1024)
            if pid == self.launch.pid and not self.launch.goes_on():
                self.status, self.ended_ms = status, int(time.time() * 1000)
        if self.status is not None and self.sweep not in self.timers:
            self.sweep()

    def sweep(self):
        """Kills the whole tree, again and again until reap() finds it gone."""
        first, self.killed = not self.killed, True
        if first and self.status is None and self.launch.boxed and self.launch.inner_pid():
            self.note_use()
        left_s = self.launch.end_inside(first) if self.status is None else None
        if left_s is None:
            self.launch.leaves.kill()
            if not first or not self.launch.leaves.paths:
                kill_below(os.getpid())
        self.timers[self.sweep] = time.monotonic() + (left_s or SWEEP_AGAIN_S)

    def stop(self, cause, grace_ms):
        """The first cause wins; a later stop can only shorten the grace."""
        if not self.launch or self.exit:
            return
        if not self.is_asked and self.status is None:
            self.is_asked, self.cause = True, self.cause or cause
            inside = self.launch.inner_pid() if self.launch.boxed else os.getpid()
            told = descendants(inside) if inside and grace_ms > 0 else []
            for pid in told:
                send_signal(pid, signal.SIGTERM)
            grace_ms = grace_ms if told else 0
        at = time.monotonic() + grace_ms / 1000
        if self.killed:
            return
        self.timers[self.sweep] = min(at, self.timers.get(self.sweep, at))

    def deadline(self):
        self.stop("deadline", self.launch.order["graceMs"])

    def abandon(self):
        self.leave("abandoned", self.launch.order["graceMs"] if self.launch else 0)

    def leave(self, cause, grace_ms):
        self.leaving = True
        self.stop(cause, grace_ms)
        self.over = self.launch is None or self.exit is not None

    def tree(self):
        leaves = self.launch.leaves
        return leaves.pids() if leaves.paths else descendants(os.getpid())

    def note_use(self):
        """What dies with its namespace is waited for by nobody, so its use is read before."""
        lines = "".join(read(f"/proc/{pid}/status") for pid in self.tree()).splitlines()
        self.cpu_s = self.usage()[0]
        self.max_rss = max([int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")], default=0)

    def usage(self):
        if use := self.launch.use():
            return use
        tree = self.tree()
        cpu_s, rss = use_of(tree)
        return max(self.cpu_s + cpu_s, self.launch.leaves.cpu_s()), rss, len(tree)

    def sample(self):
        self.breach = self.sampler.breach(self.usage)
        if self.breach:
            self.sweep()
        else:
            self.timers[self.sample] = time.monotonic() + self.sampler.every_s

    def finish(self, start_error):
        launch = self.launch
        for stream in launch.streams:
            self.pump(stream, is_last=True)
            self.unwatch(stream.pipe)
        if launch.feed and launch.feed.pipe is not None:
            self.unwatch(launch.feed.pipe)
        for action in (self.sweep, self.deadline, self.sample, self.tell_output, self.tell_started, self.tell_lines,
                       self.overstayed, launch.leaves.step_out):
            self.timers.pop(action, None)
        oom = self.breach == "memory" or launch.has_oom()
        code, killer, failure = (None, None, start_error) if start_error else launch.outcome(
            self.status, self.cause, oom)
        cpu_s, max_rss = launch.whole_use() or (
            max(self.cpu_s, launch.leaves.cpu_s() if self.killed else 0), self.max_rss)
        more = launch.more_of_exit(self.cause)
        if launch.report is not None:
            self.unwatch(launch.report)
        launch.close()
        if launch.leaves is self.leaves:
            self.timers[self.leaves.enter] = time.monotonic()
        else:
            launch.leaves.remove()
        if launch.uid is not None:
            give(f"{launch.order['folder']}/work", os.getuid(), os.getgid())
        self.exit = {
            "exitCode": code, "signal": killer, "oom": oom, "overDisk": self.breach == "disk", "stoppedBy": self.cause,
            "startedAtMs": launch.started_ms, "cpuSeconds": round(cpu_s, 6),
            "endedAtMs": int(time.time() * 1000) if self.status is None else self.ended_ms, "maxRssBytes": max_rss,
            "droppedBytes": {"stdout": 0, "stderr": 0} | {stream.name: stream.dropped for stream in launch.streams},
            "startError": failure, "limitsBy": launch.limits_by, "keeperLost": False, **more}
        if launch.feed:
            self.exit["lines"] = launch.feed.written
        record = json.dumps(self.exit).encode()
        tried(save_exit, launch.order["folder"], launch.order["key"], record)  # on a full disk the worker still hears it
        self.tell_line(b'{"event": "ended", "sizes": %s, "exit": %s}' % (json.dumps(self.sizes()).encode(), record))
        self.over = self.over or self.leaving
