"""The container engine's interface over its unix socket: as much HTTP as the life of one container needs."""
import json
import os
import socket
import time
import urllib.parse

ANSWER_S = 60
LONGEST_HEAD = 1 << 16


class EngineAway(Exception):
    """Nobody answers on the socket, or stops doing so in the middle."""


class EngineRefused(Exception):
    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


class Engine:
    """Paths name no version, which engines may find too old. One connection a call, in HTTP 1.0: an answer is over when the engine hangs up, and nothing comes in chunks."""

    def __init__(self, path):
        self.path, self.is_podman = path, False

    def call(self, method, path, body=None, wait_s=ANSWER_S):
        text = self.fetch(method, path, body, wait_s)
        return json.loads(text) if text.strip() else None

    def fetch(self, method, path, body=None, wait_s=ANSWER_S):
        line = self.open(method, path, body, wait_s)
        try:
            self.hear_head(line)
            return line.rest()
        finally:
            line.close()

    def open(self, method, path, body=None, wait_s=ANSWER_S, head=()):
        """Asks, and leaves the answer to be read."""
        content = b"" if body is None else json.dumps(body).encode()
        kind = [f"Content-Length: {len(content)}", "Content-Type: application/json"] if content else []
        proto = "HTTP/1.1" if head else "HTTP/1.0"
        words = [f"{method} {path} {proto}", "Host: engine", *head, *kind, "", ""]
        return Line(self.path, "\r\n".join(words).encode() + content, wait_s)

    def hear_head(self, line):
        status, names = line.head()
        self.is_podman = "libpod" in names.get("server", "")
        if status >= 400:
            raise EngineRefused(status, message_of(line.rest()))

    def attach(self, name, has_stdin):
        """The container's streams, both ways; no byte of a body, which podman would hand to the program."""
        query = f"stream=1&stdout=1&stderr=1&stdin={int(has_stdin)}"
        line = self.open("POST", f"/containers/{name}/attach?{query}", head=("Connection: Upgrade", "Upgrade: tcp"))
        try:
            self.hear_head(line)
        except (EngineAway, EngineRefused):
            line.close()
            raise
        return line

    def labelled(self, **labels):
        wanted = json.dumps({"label": [f"{name.replace('_', '.', 1)}={value}" for name, value in labels.items()]})
        return self.call("GET", f"/containers/json?all=1&filters={urllib.parse.quote(wanted)}", wait_s=10)

    def remove(self, name):
        """True once there is no such container."""
        try:
            self.call("DELETE", f"/containers/{name}?force=1&v=1", wait_s=30)
        except EngineRefused as refusal:
            return refusal.status == 404
        return True


class Line:
    def __init__(self, path, words, wait_s):
        self.held, self.length, self.socket = b"", -1, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self.socket.settimeout(wait_s)
        try:
            self.socket.connect(path)
            self.socket.sendall(words)
        except OSError as error:
            self.close()
            raise EngineAway(f"the container engine does not answer on {path}: {error.strerror or error}") from None

    def more(self):
        try:
            data = self.socket.recv(1 << 16)
        except OSError as error:
            raise EngineAway(f"the container engine went away: {error.strerror or error}") from None
        self.held += data
        return data

    def head(self):
        while b"\r\n\r\n" not in self.held:
            if not self.more() or len(self.held) > LONGEST_HEAD:
                raise EngineAway("the container engine went away before it answered")
        text, _, self.held = self.held.partition(b"\r\n\r\n")
        first, *lines = text.decode("latin-1").lower().split("\r\n")
        names = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
        self.length = int(names.get("content-length", -1))
        return int(first.split()[1]), names

    def rest(self):
        """All of the answer; a refused upgrade does not hang up after it."""
        while len(self.held) != self.length and self.more():
            pass
        return self.held

    def close(self):
        self.socket.close()


def message_of(body):
    try:
        return json.loads(body)["message"]
    except (ValueError, KeyError, TypeError):
        return body.decode("utf-8", "replace").strip() or "no reason given"


def remove_launched(path, launch, within_s, may_come):
    """Ends the container of a launch whoever made it; one that the engine is still making is waited for. True once it is gone.

    Gone is what a list after its removal no longer shows: an engine may refuse to know what it has not finished.
    """
    engine, until, look_until = Engine(path), time.monotonic() + within_s, time.monotonic() + (2 if may_come else 0)
    was_there = False
    while True:
        try:
            found = engine.labelled(stoker_launch=launch)
            if not found and (was_there or time.monotonic() >= look_until):
                return True
            for container in found:
                was_there = engine.remove(container["Id"]) or was_there
        except (EngineAway, EngineRefused):
            if not os.path.exists(path):
                return False
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
