"""How the program of a keeper ends: it is reaped, stopped and swept, and what is known of its end is written down.

running -exit, stop, deadline, limit-> sweeping -tree gone, pipes drained-> exit.json in place, then told.
"""
import json
import os
import signal
import time

from keeper_exit import save_exit
from keeper_launch import SWEEP_AGAIN_S
from keeper_lines import LinesEnd
from keeper_tree import descendants, give, kill_below, read, send_signal, tried, use_of


class ProgramEnd(LinesEnd):
    """Part of the keeper, which has started the program (`launch`) and can `pump` its output and tell its `sizes`."""

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
        if self.status is not None and (self.sweep not in self.timers or self.launch.boxed and not self.killed):
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
