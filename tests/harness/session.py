"""A session for the tests: counts its tasks, answers with the count, and does what metadata says."""

import json
import os
import sys
import time


def emit(event: str, **fields: object) -> None:
    print(json.dumps({"event": event, **fields}), flush=True)


def main() -> None:
    count = 0
    emit("worker", status="ready")
    for line in sys.stdin:
        task = json.loads(line)
        given = task["metadata"]
        with open(sys.argv[1], "a") as marks:
            marks.write(f"{task['task_id']}\n")
        while "gate" in given and not os.path.exists(given["gate"]):
            time.sleep(0.02)
        if given.get("crash"):
            sys.exit(3)
        count += 1
        emit("text_delta", delta=f"{given.get('say', '')} ")
        emit("text_delta", delta=str(count))
        emit("text", content=f"{given.get('say', '')} {count}")
        emit("finish", status="failed" if given.get("fail") else "completed", error="as asked")


main()
