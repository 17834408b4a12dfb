"""Lines for a program that takes tasks: its stdin stays open, and every line is written once, in the order of its number."""
import collections
import os


class Feed:
    """Never blocks: what the program does not read yet waits here, and the worker sees to it that it is not too much."""

    def __init__(self):
        self.inner, self.pipe = os.pipe()
        os.set_blocking(self.pipe, False)
        self.taken, self.written, self.waiting, self.is_refused = 0, 0, collections.deque(), False

    def take(self, number, line):
        """A number seen before is said again by a worker that was away."""
        if number > self.taken and self.pipe is not None:
            self.taken = number
            self.waiting.append((number, line.encode(errors="replace") + b"\n"))

    def write(self):
        """True when the pipe is full: go on when it has room."""
        while self.waiting and self.pipe is not None:
            number, data = self.waiting[0]
            try:
                done = os.write(self.pipe, data)
            except BlockingIOError:
                return True
            except BrokenPipeError:
                self.is_refused = True
                self.close()
                break
            if done < len(data):
                self.waiting[0] = (number, data[done:])
            else:
                self.waiting.popleft()
                self.written = number
        return False

    def close(self):
        if self.pipe is not None:
            os.close(self.pipe)
            self.pipe = None
        self.waiting.clear()
