"""The container runner: a keeper's child that is a container to it. Its descriptors are the container's, SIGTERM stops it.

create -> attach -> wait -> start -> pump -> inspect -> remove. It tells its keeper over a pipe: what is made, since when it
runs, how it ended, that it is removed. SIGQUIT ends the container at once, an answer to both comes with its exit.
"""
import json
import os
import signal
import time
import urllib.parse

from container_engine import Engine, EngineAway, EngineRefused
from container_gauge import folders_of, is_inside, sample
from container_pump import Pump, has_stdin
from container_user import find_user
from keeper_tree import give, send_signal

AGAIN_S = 0.1
NAME_FREE_S = 20  # for an earlier attempt's container of the same name to go
ENGINE_BACK_S = 30  # for an engine to come back and tell about a container that no longer runs
REMOVE_S, ENGINE_RESTART_S = 20, 3
REAL_CODES = set(range(255)) - {137, 143}  # others are also what an engine makes up for a container that ended without it


class Stopped(Exception):
    """Before the container had started."""


class ContainerRun:
    def __init__(self, order, launch, secrets, report):
        self.order, self.wanted, self.launch, self.secrets, self.report = order, order["container"], launch, secrets, report
        self.engine = Engine(self.wanted["engine"])
        self.id, self.pid, self.folders, self.seen, self.stop_signal = None, 0, [], {}, "SIGTERM"
        self.has_started, self.tail, self.asked = False, b"", set()
        self.wake, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGQUIT):
            signal.signal(number, lambda number, _: self.asked.add(number))

    def tell(self, **facts):
        os.write(self.report, json.dumps(facts).encode() + b"\n")

    def run(self):
        try:
            end = self.live()
        except Stopped:
            end = {"code": 128 + signal.SIGKILL}
        except EngineRefused as refusal:
            end = {"lost" if self.has_started else "startError": self.explain(refusal)}
        except EngineAway as away:
            end = {"lost" if self.has_started else "startError": str(away)}
        self.tell(end={**end, "endedAtMs": int(time.time() * 1000), "seen": self.seen})
        self.tell(removed=self.id is None or self.remove())

    def live(self):
        gives_stdin = has_stdin()
        self.create(gives_stdin)
        attached = self.engine.attach(self.id, gives_stdin)
        waiting = self.engine.open("POST", f"/containers/{self.id}/wait?condition=next-exit")
        self.start()
        while True:
            pump = Pump(attached, waiting, self.wake, self)
            answer = pump.run(gives_stdin)
            attached.close()
            waiting.close()
            self.tail = pump.frames.tail
            if b"StatusCode" in answer:
                return self.ended(json.loads(answer)["StatusCode"])
            if not pump.is_told:
                return self.ended(None)
            end, attached, waiting = self.again()
            if end:
                return end
            gives_stdin = False

    def create(self, gives_stdin):
        body = dict(self.wanted["request"])
        if body["HostConfig"].get("DeviceRequests"):
            self.engine.call("GET", "/version")
            if self.engine.is_podman:
                raise EngineRefused(501, "podman ignores requests for GPUs: a job with GPUs needs dockerd")
        body["Labels"] = {**body["Labels"], "stoker.launch": self.launch}
        if gives_stdin:
            body |= {"AttachStdin": True, "OpenStdin": True, "StdinOnce": True}
        if self.secrets:
            mount = {"Type": "bind", "Source": self.secrets, "Target": self.wanted["secretsAt"], "ReadOnly": True}
            body["HostConfig"] = {**body["HostConfig"], "Mounts": [*body["HostConfig"]["Mounts"], mount]}
        until = time.monotonic() + NAME_FREE_S
        while self.id is None:
            self.stop_if_asked()
            try:
                self.id = self.engine.call("POST", f"/containers/create?name={urllib.parse.quote(self.wanted['name'])}",
                                           body)["Id"]
            except EngineRefused as refusal:
                if refusal.status == 404 and self.engine.is_podman and body["Image"] == self.wanted["request"]["Image"]:
                    body["Image"] = f"localhost/{body['Image']}"  # what was built here has no shorter name
                    continue
                if "already in use" not in str(refusal) or time.monotonic() > until:
                    raise
                time.sleep(AGAIN_S)
        self.tell(id=self.id)
        uid, gid = find_user(self.engine, self.id, body["User"])
        for folder in (f"{self.order['folder']}/work", self.secrets):
            if folder and os.getuid() == 0:
                give(folder, uid, gid)

    def start(self):
        self.stop_if_asked()
        self.engine.call("POST", f"/containers/{self.id}/start")
        self.has_started = True
        self.tell(startedAtMs=int(time.time() * 1000))
        found = self.engine.call("GET", f"/containers/{self.id}/json")
        self.pid = found["State"].get("Pid") or 0
        self.stop_signal = found["Config"].get("StopSignal") or "SIGTERM"
        self.folders = folders_of(self.pid, self.id) if self.pid else []
        self.tell(folders=self.folders)
        self.look()

    def stop_if_asked(self):
        if self.asked:
            raise Stopped

    def on_signal(self, number):
        if number == signal.SIGQUIT:
            self.look()
            self.send("SIGKILL")
        elif number == signal.SIGTERM:
            self.send(self.stop_signal)

    def send(self, name):
        """Through the engine; to the first process of the container where the engine has gone."""
        try:
            self.engine.call("POST", f"/containers/{self.id}/kill?signal={urllib.parse.quote(str(name))}", wait_s=15)
        except EngineRefused:
            pass  # it does not run any more
        except EngineAway:
            if self.is_alive():
                send_signal(self.pid, signal.SIGKILL if name == "SIGKILL" else signal.SIGTERM)

    def is_alive(self):
        return self.pid > 0 and is_inside(self.pid, self.id)

    def has_ended(self):
        """Podman looks only four times a second whether one it waits for is over, so it is asked."""
        if not self.engine.is_podman:
            return False
        try:
            return not self.engine.call("GET", f"/containers/{self.id}/json", wait_s=10)["State"]["Running"]
        except (EngineAway, EngineRefused):
            return False

    def look(self):
        """The latest is kept, and the most of what may also shrink."""
        now = sample(self.folders)
        most = {name: max(now.get(name, 0), self.seen.get(name, 0)) for name in (*now, *self.seen)}
        self.seen = {**most, "rss": max(self.seen.get("rss", 0), now.get("used", 0) - now.get("idle", 0))}

    def again(self):
        """The engine went away. If it comes back in time: the streams of a container that still runs, or how it ended."""
        until = None
        while True:
            self.heed_signals()
            try:
                state = self.engine.call("GET", f"/containers/{self.id}/json", wait_s=10)["State"]
                if not state["Running"]:
                    return self.ended_without_engine(state["ExitCode"]), None, None
                waiting = self.engine.open("POST", f"/containers/{self.id}/wait?condition=not-running")
                attached = self.engine.attach(self.id, False)
                os.write(2, b"\nstoker: the container engine went away and came back; output of that time may be missing\n")
                return None, attached, waiting
            except EngineRefused as refusal:
                return {"lost": f"the container engine went away, and the container with it: {refusal}"}, None, None
            except EngineAway:
                pass
            if not self.is_alive():
                if self.asked:
                    return {"code": 128 + (signal.SIGKILL if signal.SIGQUIT in self.asked else signal.SIGTERM)}, None, None
                until = until or time.monotonic() + ENGINE_BACK_S
                if time.monotonic() > until:
                    return {"lost": "the container engine went away, and with it how the container ended"}, None, None
            time.sleep(AGAIN_S)

    def heed_signals(self):
        try:
            for number in os.read(self.wake, 64):
                self.on_signal(number)
        except BlockingIOError:
            pass

    def ended_without_engine(self, code):
        if code in REAL_CODES or self.asked:
            return {"code": code}
        return {"lost": f"the container engine went away, and the container was over when it came back (exit code {code})"}

    def ended(self, code):
        """The inspection also knows about memory; where the engine has gone meanwhile, its answer to the wait stands."""
        oom = False
        try:
            state = self.engine.call("GET", f"/containers/{self.id}/json", wait_s=10)["State"]
            code, oom = state["ExitCode"] if code is None else code, state.get("OOMKilled", False)
        except (EngineAway, EngineRefused):
            if code is None:
                return {"lost": "the container engine went away, and with it how the container ended"}
        if code in (1, 126, 127) and (why := self.not_runnable()):
            return {"startError": why}
        oom = oom or self.seen.get("oom_kills", 0) > 0
        return {"code": code, "oom": oom and self.order["limits"]["memoryBytes"] is not None}

    def not_runnable(self):
        """The container's init says so itself, as the last that is heard."""
        last = self.tail.decode("utf-8", "replace").strip().rpartition("\n")[2]
        named = f"program not found in the image {self.wanted['request']['Image']}"
        if last.startswith("[FATAL tini") and "] exec " in last:
            return f"{named}: {last.partition('] exec ')[2]}"
        if last.startswith("ERROR (catatonit") and "failed to exec pid1" in last:
            return f"{named}: {' '.join(self.order['argv'][:1])}: {last.rpartition(': ')[2]}"
        return None

    def explain(self, refusal):
        text, image = str(refusal), self.wanted["request"]["Image"]
        if self.id is None and refusal.status == 404:
            return f"image {image} is not on this machine: {text}"
        if "could not select device driver" in text:
            return f"the container engine has no GPU runtime, and the job asks for GPUs: {text}"
        if "No command specified" in text:
            return f"image {image} has no command of its own, and the job names none"
        return f"the container engine did not start image {image}: {text}"

    def remove(self):
        """What an engine that has gone for longer keeps is no longer running; a later look for strays removes it."""
        until = time.monotonic() + REMOVE_S
        while time.monotonic() < until:
            try:
                if self.engine.remove(self.id):
                    return True
            except EngineAway:
                until = min(until, time.monotonic() + ENGINE_RESTART_S)
            time.sleep(AGAIN_S)
        return False
