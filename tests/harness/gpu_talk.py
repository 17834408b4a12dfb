"""A one-off program of the GPU-service kind; metadata says how it behaves."""
import json
import os
import signal
import sys
import time

GATE = os.environ.get("METADATA_GATE", "")
MODE = os.environ.get("METADATA_MODE", "")
LINES = int(os.environ.get("METADATA_LINES", "4"))


def emit(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


def main():
    emit("connection", status="connected", worker="talk")
    print(json.dumps({"type": "worker", "data": {"status": "loading", "message": "soon"}}), flush=True)
    for i in range(LINES):
        emit("text_delta", delta=f"part {i}\n")
        while i == LINES // 2 and GATE and not os.path.exists(GATE):
            time.sleep(0.02)
    print("WARNING: nearly done", file=sys.stderr, flush=True)
    if MODE == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if MODE == "fail":
        emit("task_finish", status="failed", error="no luck")
        sys.exit(1)
    while MODE == "hang":
        time.sleep(1)
    emit("text", content="whole")
    emit("finish", status="completed")


main()
