"""Exit records: the one file of an attempt that says how it ended."""
import json
import os
import time

from keeper_tree import read


def save_exit(folder, key, record):
    """In place and in one write, as its first line: a folder is used again and keeps its files, and making new ones takes long."""
    fd = os.open(f"{folder}/exit.json", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.write(fd, b'{"key": "%s", %s\n' % (key.encode(), record[1:]))
    finally:
        os.close(fd)


def has_exit(folder, key):
    try:
        return json.loads(read(f"{folder}/exit.json").split("\n")[0])["key"] == key
    except (ValueError, KeyError):
        return False


def lost_exit(started_ms):
    """The record of a program whose keeper vanished: nothing is known about how it ended."""
    return {"exitCode": None, "signal": None, "oom": False, "overDisk": False, "stoppedBy": None,
            "startedAtMs": started_ms, "endedAtMs": int(time.time() * 1000), "cpuSeconds": 0, "maxRssBytes": 0,
            "droppedBytes": {"stdout": 0, "stderr": 0}, "startError": None, "limitsBy": "none", "keeperLost": True}
