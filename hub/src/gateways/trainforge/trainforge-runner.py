"""Runs one attempt of a job for a hub, wherever a script can run: standard library only.

Beside it lies stoker.json: where the hub is, which attempt this is, and a token that is good for this attempt alone.
The job's files are in work/. Output goes to files first and from there to the hub, so a hub that is away loses nothing.
"""
import hashlib
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

HOME = os.path.dirname(os.path.abspath(__file__))
WORK = os.path.join(HOME, "work")
STREAMS = ("stdout", "stderr")
PIECE_BYTES = 256 * 1024
CALL_SECONDS = 15
#: Between SIGTERM and SIGKILL; a node that leaves gives ten seconds for everything.
GRACE_SECONDS = {"cancel": 10, "deadline": 10, "leaving": 6, "stale": 5}
STALE_EXIT = 75


class Stale(Exception):
    """The hub wants nothing more of this attempt."""


class Away(Exception):
    """The hub cannot be reached, or has trouble of its own: try again."""


class Hub:
    """Calls to the hub; each is tried once, its caller decides what comes next."""

    def __init__(self, place):
        self.base = "%s/api/attempts/%s" % (place["url"], place["attempt"])
        self.token = place["token"]
        authorities = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("SSL_CERT_FILE")
        self.context = ssl.create_default_context(cafile=authorities) if self.base.startswith("https") else None

    def call(self, method, path, body=None, size=None):
        headers = {"Authorization": "Bearer " + self.token, "Accept": "application/json"}
        data = body
        if isinstance(body, dict):
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        elif body is not None:
            headers["Content-Type"] = "application/octet-stream"
            headers["Content-Length"] = str(len(body) if size is None else size)
        request = urllib.request.Request(self.base + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=CALL_SECONDS, context=self.context) as reply:
                return json.loads(reply.read() or b"{}")
        except urllib.error.HTTPError as error:
            with error:
                self.judge(error.code, error.read(100_000))
        except (OSError, ValueError) as error:
            raise Away(str(error))

    def judge(self, status, text):
        try:
            told = json.loads(text)
        except ValueError:
            told = {}
        if status in (401, 404, 410):
            raise Stale(told.get("error", "status %d" % status))
        if status == 409 and "known" in told:
            raise Gap(told["known"])
        if status == 429 or status >= 500:
            raise Away("status %d" % status)
        raise RuntimeError(told.get("error", "the hub answered with status %d" % status))

    def insist(self, method, path, body=None, until=lambda: False):
        """Tries until the hub answers, or until it need not."""
        pause = 0.2
        while True:
            try:
                return self.call(method, path, body)
            except Away as error:
                if until():
                    raise Stale("the hub is away: %s" % error)
                time.sleep(pause)
                pause = min(10.0, pause * 2)


class Gap(Exception):
    """The hub knows less of a stream than was thought: go on from there."""

    def __init__(self, known):
        super().__init__(known)
        self.known = known


class Output:
    """One stream of the program: pumped into a file up to the limit, and from there to the hub."""

    def __init__(self, name, limit):
        self.name = name
        self.limit = limit
        self.path = os.path.join(HOME, name)
        self.file = open(self.path, "wb", buffering=0)
        self.written = 0
        self.sent = 0
        self.dropped = 0
        self.pump = None

    def follow(self, pipe):
        self.pump = threading.Thread(target=self.drain, args=(pipe,), daemon=True)
        self.pump.start()

    def drain(self, pipe):
        while True:
            piece = os.read(pipe.fileno(), 65536)
            if not piece:
                return
            self.write(piece)

    def write(self, piece):
        room = max(0, self.limit - self.written)
        self.dropped += max(0, len(piece) - room)
        if room > 0:
            self.file.write(piece[:room])
            self.written += min(room, len(piece))

    def send(self, hub):
        """One piece, if there is one; tells what the hub said."""
        if self.sent >= self.written:
            return None
        with open(self.path, "rb") as file:
            file.seek(self.sent)
            piece = file.read(min(PIECE_BYTES, self.written - self.sent))
        try:
            word = hub.call("POST", "/output?stream=%s&offset=%d" % (self.name, self.sent), piece)
        except Gap as gap:
            self.sent = min(gap.known, self.written)
            return None
        self.sent += len(piece)
        return word


class Program:
    """The job's own program and everything it started."""

    def __init__(self, command, env, outputs):
        self.child = subprocess.Popen(
            command,
            shell=isinstance(command, str),
            cwd=WORK,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=os.name == "posix",
        )
        outputs["stdout"].follow(self.child.stdout)
        outputs["stderr"].follow(self.child.stderr)

    def signal(self, number):
        try:
            if os.name == "posix":
                os.killpg(self.child.pid, number)
            else:
                self.child.terminate()
        except OSError:
            pass

    def is_over(self, outputs):
        """Its first process decides; what it left behind ends with it."""
        if self.child.poll() is None:
            return False
        self.signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
        for output in outputs.values():
            output.pump.join(5)
        return True


class Run:
    """The passage of the attempt, from the first call to the last."""

    def __init__(self, hub):
        self.hub = hub
        self.ended_by = None
        self.asked_at = None
        self.outputs = {}
        self.called_at = 0.0
        self.pause = 0.0
        self.retry_at = 0.0

    def leave(self, *_):
        self.ended_by = self.ended_by or "leaving"

    def go(self):
        signal.signal(signal.SIGTERM, self.leave)
        os.makedirs(WORK, exist_ok=True)
        order = self.hub.insist("POST", "/start", {}, until=lambda: self.ended_by is not None)
        self.outputs = {name: Output(name, order["output_limit_bytes"]) for name in STREAMS}
        if order["cancel"]:
            self.ended_by = self.ended_by or "cancel"
        try:
            program = None if self.ended_by else self.launch(order)
        except Exception as error:  # whatever keeps it from starting is told to the hub
            return self.finish(order, None, str(error))
        if program is None:
            return self.finish(order, None, None)
        self.watch(program, order)
        return self.finish(order, program.child.returncode, None)

    def launch(self, order):
        env = dict(os.environ, **order["env"])
        python = sys.executable
        if order["environment"] is not None:
            python = self.install(order["environment"], env)
        command = order["command"]
        if not isinstance(command, str):
            command = [python if word is None else word for word in command]
        return Program(command, env, self.outputs)

    def install(self, wanted, env):
        """A virtual environment for all jobs with the same requirements and interpreter, made once."""
        base = sys.executable
        if wanted["python"] is not None and wanted["python"] != "%d.%d" % sys.version_info[:2]:
            base = shutil.which("python" + wanted["python"])
            if base is None:
                raise RuntimeError("needs Python %s, this machine runs %d.%d" % ((wanted["python"],) + sys.version_info[:2]))
        key = hashlib.sha256((wanted["requirements"] + "\0" + os.path.realpath(base)).encode()).hexdigest()[:32]
        folder = os.path.join(os.path.expanduser("~"), ".cache", "stoker", "environments", key)
        binaries = os.path.join(folder, "bin" if os.name == "posix" else "Scripts")
        python = os.path.join(binaries, "python")
        with Lock(folder + ".lock"):
            if not os.path.exists(os.path.join(folder, "ready")):
                shutil.rmtree(folder, ignore_errors=True)
                self.say("making an environment with %s" % base)
                self.step([base, "-m", "venv", folder])
                needed = os.path.join(folder, "requirements.txt")
                with open(needed, "w", encoding="utf-8") as file:
                    file.write(wanted["requirements"])
                if any(line.strip() and not line.strip().startswith("#") for line in wanted["requirements"].splitlines()):
                    self.step([python, "-m", "pip", "install", "--disable-pip-version-check", "-r", needed])
                open(os.path.join(folder, "ready"), "w").close()
        env["PATH"] = binaries + os.pathsep + env.get("PATH", "")
        env["VIRTUAL_ENV"] = folder
        return python

    def step(self, argv):
        """A step of the set-up: its output is shown with the job's."""
        child = subprocess.Popen(argv, cwd=WORK, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        pump = threading.Thread(target=self.outputs["stderr"].drain, args=(child.stdout,), daemon=True)
        pump.start()
        while child.poll() is None:
            self.talk(10)
            if self.ended_by is not None:
                child.terminate()
                raise RuntimeError("stopped while its environment was made")
            time.sleep(0.1)
        pump.join(5)
        if child.returncode != 0:
            raise RuntimeError("%s ended with code %d" % (" ".join(argv[1:4]), child.returncode))

    def say(self, text):
        self.outputs["stderr"].write(("stoker: %s\n" % text).encode())

    def watch(self, program, order):
        deadline = None if order["timeout_seconds"] is None else time.monotonic() + order["timeout_seconds"]
        while not program.is_over(self.outputs):
            self.talk(order["check_in_seconds"])
            if deadline is not None and time.monotonic() >= deadline:
                self.ended_by = self.ended_by or "deadline"
            if self.ended_by is not None:
                self.stop(program)
            try:
                program.child.wait(0.1)
            except subprocess.TimeoutExpired:
                pass

    def stop(self, program):
        if self.asked_at is None:
            self.asked_at = time.monotonic()
            program.signal(signal.SIGTERM)
        elif time.monotonic() - self.asked_at >= GRACE_SECONDS[self.ended_by]:
            program.signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)

    def talk(self, every):
        """Sends what there is, or just calls when it is time; a hub that is away is tried again later."""
        now = time.monotonic()
        if now < self.retry_at:
            return
        try:
            words = [output.send(self.hub) for output in self.outputs.values()]
            word = next((each for each in words if each is not None), None)
            if word is None and now - self.called_at >= every:
                word = self.hub.call("POST", "/check-in", {})
            if word is not None:
                self.called_at = now
                if word.get("cancel"):
                    self.ended_by = self.ended_by or "cancel"
            self.pause = 0.0
        except Away:
            self.pause = min(5.0, self.pause * 2 or 0.2)
            self.retry_at = time.monotonic() + self.pause
        except Stale:
            self.ended_by = "stale"

    def finish(self, order, code, start_error):
        """Everything that was printed, what the job left, and how it ended; nothing is told before it is there."""
        if self.ended_by == "stale":
            return self.withdraw()
        give_up = time.monotonic() + 3 if self.ended_by == "leaving" else None
        until = lambda: (give_up is not None and time.monotonic() > give_up) or self.ended_by == "stale"
        self.flush(until)
        kept, note, problem = [], None, None
        if order["wants_outputs"] and code is not None and self.ended_by != "leaving":
            try:
                note = self.upload(kept, until)
            except (OSError, RuntimeError) as error:
                problem = str(error)
        dropped = sum(output.dropped for output in self.outputs.values())
        if dropped > 0:
            note = "%s%d bytes of output above the limit were dropped" % ("" if note is None else note + "; ", dropped)
        killed = code is not None and code < 0
        end = {
            "exit_code": None if killed else code,
            "signal": signal.Signals(-code).name if killed else None,
            "ended_by": self.ended_by or "itself",
            "start_error": start_error,
            "note": note,
            "output_error": problem,
            "artifacts": kept,
        }
        self.hub.insist("POST", "/end", end, until)
        if start_error is not None:
            return 1
        return 143 if code is None else 128 - code if killed else code

    def withdraw(self):
        """Nobody wants its result; that the program is gone may still free something."""
        gone = {"exit_code": None, "signal": None, "ended_by": "leaving", "artifacts": []}
        try:
            self.hub.call("POST", "/end", gone)
        except Away:
            pass
        raise Stale("the attempt is over, or another one took its place")

    def flush(self, until):
        while any(output.sent < output.written for output in self.outputs.values()):
            before = sum(output.sent for output in self.outputs.values())
            self.talk(10)
            if until():
                return
            if sum(output.sent for output in self.outputs.values()) == before:
                time.sleep(0.1)

    def upload(self, kept, until):
        seen = {}
        for folder, _, names in os.walk(WORK):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.isfile(path) and not os.path.islink(path):
                    seen[os.path.relpath(path, WORK).replace(os.sep, "/")] = path
        chosen = self.hub.insist("POST", "/outputs", {"paths": sorted(seen)}, until)
        if chosen["error"] is not None:
            raise RuntimeError(chosen["error"])
        for name in chosen["paths"]:
            kept.append(self.send_file(name, seen[name], until))
        return chosen["note"]

    def send_file(self, name, path, until):
        digest, size = hashlib.sha256(), os.path.getsize(path)
        with open(path, "rb") as file:
            for part in iter(lambda: file.read(1024 * 1024), b""):
                digest.update(part)
        pause = 0.2
        while True:
            try:
                with open(path, "rb") as file:
                    self.hub.call("PUT", "/blobs/" + digest.hexdigest(), file, size)
                break
            except Away as error:
                if until():
                    raise RuntimeError("the hub is away: %s" % error)
                time.sleep(pause)
                pause = min(10.0, pause * 2)
        return {"path": name, "sha256": digest.hexdigest(), "size": size, "executable": os.access(path, os.X_OK)}


class Lock:
    """Held by one process of this machine at a time; free again when that ends."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        self.file = open(self.path, "w")
        if os.name == "posix":
            import fcntl

            fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()


def main():
    with open(os.path.join(HOME, "stoker.json"), encoding="utf-8") as file:
        place = json.load(file)
    print("stoker: attempt %s, its output goes to %s" % (place["attempt"], place["url"]), flush=True)
    try:
        return Run(Hub(place)).go()
    except Stale as error:
        print("stoker: %s" % error, file=sys.stderr, flush=True)
        return STALE_EXIT


if __name__ == "__main__":
    sys.exit(main())
