"""One keeper: owns one program at a time, and everything about it that must outlive the worker.

free -start-> running -exit, stop, deadline, abandoned-> sweeping -tree gone, pipes drained, exit.json in place->
ended -release-> free. It leaves when told to, or when no worker has attached for idle_s.
"""
import json
import os
import time

from keeper_container import ContainerLaunch
from keeper_end import ProgramEnd
from keeper_groups import leaves_for, standing_leaves
from keeper_launch import Launch, Refused
from keeper_limits import Sampler
from keeper_stage import Stage
from keeper_tree import become_subreaper, identity, tried, wake_on_child

TELL_EVERY_S = 0.002  # a flood of output becomes at most 500 notices a second
YOUNG_S = 0.1
TELL_START_S = 0.005  # a silent program that ends sooner is told of once
TURN_BYTES = 8 << 20  # one stream's share before the others are heard


class Keeper(ProgramEnd):
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

    def abandon(self):
        self.leave("abandoned", self.launch.order["graceMs"] if self.launch else 0)

    def leave(self, cause, grace_ms):
        self.leaving = True
        self.stop(cause, grace_ms)
        self.over = self.launch is None or self.exit is not None
