"""What a keeper does for a program that takes lines: it feeds it, asks it to leave, and lets go of what was heard."""
import select
import time

from keeper_worker import WorkerEnd

TELL_LINES_S = 0.002
AT_ONCE = 8  # notices after a line: whoever gave it waits for what the program says to it


class LinesEnd(WorkerEnd):
    """Part of the keeper, which has the program (`launch`), its end (`exit`), and can `stop` it and `pump` its output."""

    def lines(self):
        return self.launch.feed.written if self.launch.feed else 0

    def do_eof(self, request):
        """A program that takes lines is asked to leave; from here on its end counts as asked for."""
        feed = self.launch.feed if self.launch and not self.exit else None
        if feed is None:
            return
        self.cause = self.cause or ("eof" if self.status is None else None)
        if feed.pipe is not None:
            self.unwatch(feed.pipe)
            feed.close()
        at = time.monotonic() + request["graceMs"] / 1000
        self.timers[self.overstayed] = min(at, self.timers.get(self.overstayed, at))

    def overstayed(self):
        self.stop("eof", self.launch.order["graceMs"])

    def do_line(self, request):
        feed = self.launch.feed if self.launch and not self.exit else None
        if feed is not None:
            feed.take(request["n"], request["line"])
            self.launch.urgent = AT_ONCE
            self.feed_program()

    def feed_program(self):
        feed, fd = self.launch.feed, self.launch.feed.pipe
        if not feed.write():
            self.unwatch(fd)
        elif fd not in self.handlers:
            self.watch(fd, self.feed_program, select.POLLOUT)
        self.timers.setdefault(self.tell_lines, time.monotonic() + TELL_LINES_S)

    def tell_lines(self):
        if self.launch and self.launch.feed and not self.exit:
            self.tell("lines", n=self.lines(), refused=self.launch.feed.is_refused)

    def do_heard(self, request):
        """Output that is not needed any more; a program that waited for this may print again."""
        if not self.launch or self.exit:
            return
        for stream in self.launch.streams:
            if stream.segments:
                stream.forget(request["stdout"])
                if stream.is_waiting:
                    stream.is_waiting = False
                    self.watch(stream.pipe, lambda stream=stream: self.pump(stream))
