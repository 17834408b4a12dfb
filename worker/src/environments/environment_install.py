"""Makes a virtual environment in the working folder: `order.json` says of what. Talk of pip goes to stderr; how far it
is goes to stdout as JSON lines, of which the last says what was installed.

Packages that are only named come as wheels: nothing of theirs is run here, so what was fetched may serve others too.
Only where that is not enough pip may build from source, which runs code of the packages; what comes of it stays here.
"""
import json
import os
import re
import subprocess
import sys
import threading
import time
import venv

LOOK_S = 0.5
FIRST_WITH_PYTHON_OPTION = (22, 3)
COLLECTING = re.compile(r"^\s*Collecting ([A-Za-z0-9._-]+)")
INSTALLING = re.compile(r"^Installing collected packages: (.+)$")


def tell(**facts):
    print(json.dumps(facts), flush=True)


def bytes_below(*folders):
    total = 0
    for folder in folders:
        for parent, _, names in os.walk(folder):
            for name in names:
                try:
                    total += os.lstat(os.path.join(parent, name)).st_size
                except OSError:
                    pass
    return total


class Progress:
    """Looks at what is there instead of trusting pip to say it: a large download says nothing for minutes."""

    def __init__(self, site):
        self.site, self.collected, self.name, self.total, self.last = site, 0, None, None, None
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def hear(self, line):
        if found := COLLECTING.match(line):
            self.collected, self.name = self.collected + 1, found[1]
        elif found := INSTALLING.match(line):
            self.total = len(found[1].split(", "))

    def watch(self):
        while not self.is_over.wait(LOOK_S):
            self.look()

    def look(self):
        facts = {"collected": self.collected, "name": self.name, "total": self.total,
                 "installed": len(installed(self.site)), "bytes": bytes_below("wheels", os.environ["TMPDIR"])}
        if facts != self.last:
            self.last = facts
            tell(**facts)

    def close(self):
        self.is_over.set()
        self.thread.join()


def installed(site):
    try:
        names = os.listdir(site)
    except OSError:
        return []
    return sorted(name[: -len(".dist-info")] for name in names if name.endswith(".dist-info"))


def pip_command(python):
    """The interpreter's own pip where it can install for another; else one inside the environment."""
    asked = subprocess.run([sys.executable, "-I", "-m", "pip", "--version"], capture_output=True, text=True)
    version = tuple(int(part) for part in re.findall(r"\d+", (asked.stdout.split() + ["", "0"])[1])[:2])
    if asked.returncode == 0 and version >= FIRST_WITH_PYTHON_OPTION:
        return [sys.executable, "-I", "-m", "pip", "--python", python]
    bundled = subprocess.run([python, "-I", "-m", "ensurepip", "--upgrade"], capture_output=True, text=True)
    if bundled.returncode != 0:
        sys.exit(f"Python {sys.version.split()[0]} at {sys.executable} has no pip: install python3-pip or python3-venv")
    return [python, "-I", "-m", "pip"]


def run_pip(pip, words, progress):
    common = ["--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--no-cache-dir"]
    child = subprocess.Popen([*pip, words[0], *common, *words[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, errors="replace")
    for line in child.stdout:
        progress.hear(line)
        sys.stderr.write(line)
        sys.stderr.flush()
    return child.wait()


def install(order, pip, progress):
    links = ["--find-links", order["wheels"]] if order["wheels"] else []
    wanted = ["-r", "requirements.txt"]
    if order["plain"]:
        code = run_pip(pip, ["download", "--only-binary", ":all:", "-d", "wheels", *links, *wanted], progress)
        if code == 0:
            return run_pip(pip, ["install", "--no-index", "--find-links", "wheels", *wanted], progress)
        sys.stderr.write("not all of it comes as wheels: trying again, from source where needed\n")
        remove_wheels()
    return run_pip(pip, ["install", *links, *wanted], progress)


def remove_wheels():
    """What code of packages could have touched is not kept for others."""
    for name in os.listdir("wheels"):
        os.unlink(os.path.join("wheels", name))


def settle(here, final):
    """Scripts name the interpreter by its path: they get the one the environment will have."""
    folder = os.path.join(here, "bin")
    for path in [os.path.join(here, "pyvenv.cfg"), *(os.path.join(folder, name) for name in os.listdir(folder))]:
        if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > 1 << 20:
            continue
        with open(path, "rb+") as file:
            text = file.read()
            changed = text.replace(here.encode(), final.encode())
            if changed != text:
                file.seek(0)
                file.truncate()
                file.write(changed)


def main():
    os.umask(0o022)
    with open("order.json") as file:
        order = json.load(file)
    for folder in ("wheels", os.environ["TMPDIR"]):
        os.makedirs(folder, exist_ok=True)
    here = os.path.abspath("env")
    venv.EnvBuilder(symlinks=True, with_pip=False).create(here)
    python = os.path.join(here, "bin", "python")
    site = os.path.join(here, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")
    began = time.monotonic()
    pip = pip_command(python)
    progress = Progress(site)
    try:
        code = install(order, pip, progress)
    finally:
        progress.close()
    if code != 0:
        sys.exit(code)
    settle(here, order["final"])
    os.sync()
    sys.stderr.write(f"packages installed: {len(installed(site))}, in {time.monotonic() - began:.0f} s\n")
    tell(packages=installed(site))


main()
