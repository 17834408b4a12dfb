"""Exit records: the one file of an attempt that says how it ended."""
import json
import os
import time


def save_exit(folder, record):
    """A reader sees no record or all of it."""
    fd = os.open(f"{folder}/exit.json.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, json.dumps(record).encode())
    finally:
        os.close(fd)
    os.rename(f"{folder}/exit.json.new", f"{folder}/exit.json")


def lost_exit(started_ms):
    """The record of a program whose keeper vanished: nothing is known about how it ended."""
    return {"exitCode": None, "signal": None, "oom": False, "overDisk": False, "stoppedBy": None,
            "startedAtMs": started_ms, "endedAtMs": int(time.time() * 1000), "cpuSeconds": 0, "maxRssBytes": 0,
            "droppedBytes": {"stdout": 0, "stderr": 0}, "startError": None, "limitsBy": "none", "keeperLost": True}
