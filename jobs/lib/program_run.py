"""Runs a program as a worker would, for tests: its environment, its lines, its exit code."""

import gzip
import json
import os
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

JOBS = Path(__file__).resolve().parents[1]
DIGITS = JOBS.parent / "tests" / "data" / "mnist"
TIMEOUT_SECONDS = 300


@dataclass(frozen=True)
class Ran:
    """What a program said and how it ended."""

    events: list[dict[str, Any]]
    code: int
    stderr: str

    @property
    def finish(self) -> dict[str, Any]:
        return self.events[-1]

    @property
    def result(self) -> dict[str, Any]:
        if self.finish.get("status") != "completed":
            raise AssertionError(f"{self.finish}\n{self.stderr}")
        return self.finish["result"]

    def named(self, name: str) -> list[dict[str, Any]]:
        return [event for event in self.events if event["event"] == name]


def start(program: str, folder: Path, inputs: Any, python: str = sys.executable, **env: str) -> "subprocess.Popen[str]":
    """One thread: a busy machine makes several wait for each other."""
    given = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "OMP_NUM_THREADS": "1",
        "TASK_ID": "t",
        "MODEL_PATH": "",
        "GPU_DEVICE": "",
        "TASK_METADATA": json.dumps(inputs),
        "DATA_PATH": str(DIGITS),
        **env,
    }
    words = [python, "-B", str(JOBS / program / "main.py")]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, cwd=folder, env=given, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def ended(program: "subprocess.Popen[str]", stdin: str = "", said: str = "") -> Ran:
    """Waits for its end; `said` is what was read of its output before."""
    try:
        out, err = program.communicate(stdin, timeout=TIMEOUT_SECONDS)
    finally:
        program.kill()
    return Ran([json.loads(line) for line in (said + out).splitlines()], program.returncode, err)


def run(program: str, folder: Path, inputs: Any, stdin: str = "", **env: str) -> Ran:
    return ended(start(program, folder, inputs, **env), stdin)


def digits_in(folder: Path, train: int, held_out: int) -> Path:
    """The first so many of the real digits, as IDX files."""
    folder.mkdir(parents=True, exist_ok=True)
    for part, count in (("train", train), ("t10k", held_out)):
        for name, shape in ((f"{part}-images-idx3-ubyte", (28, 28)), (f"{part}-labels-idx1-ubyte", ())):
            content = gzip.decompress((DIGITS / f"{name}.gz").read_bytes())[8 + 4 * len(shape) :]
            each = 784 if shape else 1
            header = bytes([0, 0, 8, 1 + len(shape)]) + struct.pack(f">{1 + len(shape)}I", count, *shape)
            (folder / name).write_bytes(header + content[: count * each])
    return folder
