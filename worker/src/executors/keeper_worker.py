"""The keeper's end of its socket: one worker at a time, JSON lines both ways."""
import json

from keeper_loop import Loop


class WorkerEnd(Loop):
    """A keeper says what it does when it is asked (`do_...`), greeted, deserted, and heard again."""

    def __init__(self, listener):
        super().__init__()
        self.listener, self.worker, self.inbox, self.outbox, self.is_clogged = listener, None, b"", b"", False
        self.watch(listener.fileno(), self.on_worker)

    def on_worker(self):
        """A second worker replaces the first: it is the same one, come back."""
        arrived, _ = self.listener.accept()
        self.drop_worker()
        arrived.setblocking(False)
        self.worker, self.inbox, self.outbox, self.is_clogged = arrived, b"", b"", False
        self.watch(arrived.fileno(), self.on_words)
        self.greet()

    def drop_worker(self):
        if self.worker:
            self.unwatch(self.worker.fileno())
            self.worker.close()
            self.worker = None
            self.deserted()

    def on_words(self):
        if self.outbox:
            self.flush()
            if not self.worker:
                return
            self.unclogged()
        try:
            data = self.worker.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            return self.drop_worker()
        *lines, self.inbox = (self.inbox + data).split(b"\n")
        for line in lines:
            request = json.loads(line)
            getattr(self, "do_" + request["op"])(request)

    def say(self, event, **facts):
        """Leaves together with what is told next."""
        if self.worker:
            self.outbox += json.dumps({"event": event, **facts}).encode() + b"\n"

    def tell(self, event, **facts):
        self.say(event, **facts)
        if self.worker:
            self.flush()

    def tell_line(self, line):
        if self.worker:
            self.outbox += line + b"\n"
            self.flush()

    def flush(self):
        try:
            self.outbox = self.outbox[self.worker.send(self.outbox):]
        except BlockingIOError:
            pass
        except OSError:
            return self.drop_worker()
        if self.is_clogged != bool(self.outbox):
            self.is_clogged = not self.is_clogged
            self.want_room(self.worker.fileno(), self.is_clogged)
