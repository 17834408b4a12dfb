"""What a keeper waits for: descriptors and moments."""
import select
import time


class Loop:
    def __init__(self):
        self.timers, self.handlers, self.poll = {}, {}, select.poll()

    def turn(self):
        """Waits until something is due, and does all that is."""
        now = time.monotonic()
        wait = None if not self.timers else max(0.0, min(self.timers.values()) - now) * 1000
        for fd, _ in self.poll.poll(wait):
            if fd in self.handlers:
                self.handlers[fd]()
        now = time.monotonic()
        for action in [action for action, when in self.timers.items() if when <= now]:
            if self.timers.pop(action, None) is not None:
                action()

    def watch(self, fd, handler, events=select.POLLIN):
        self.handlers[fd] = handler
        self.poll.register(fd, events)

    def unwatch(self, fd):
        if self.handlers.pop(fd, None):
            self.poll.unregister(fd)

    def want_room(self, fd, is_wanted):
        """Also wakes when a watched descriptor takes bytes again."""
        self.poll.modify(fd, select.POLLIN | (select.POLLOUT if is_wanted else 0))
