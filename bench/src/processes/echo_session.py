"""A session of the bench: answers each task with the moment it read it, after as many stamped deltas as it was asked for."""
import json
import sys
import threading
import time

saying = threading.Lock()


def emit(event: str, **fields: object) -> None:
    with saying:
        sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
        sys.stdout.flush()


def answer(task: str, read_at: float, deltas: int, every_ms: float) -> None:
    for _ in range(deltas):
        time.sleep(every_ms / 1000)
        emit("text_delta", task_id=task, delta=f"stamp {time.time() * 1000:.3f}")
    emit("text", task_id=task, content=f"stamp {read_at * 1000:.3f}")
    emit("finish", task_id=task, status="completed")


def main() -> None:
    emit("worker", status="ready")
    for line in sys.stdin:
        read_at = time.time()
        task = json.loads(line)
        asked = task["metadata"] or {}
        about = (task["task_id"], read_at, asked.get("deltas", 0), asked.get("everyMs", 0))
        if about[2] == 0:
            answer(*about)
        else:
            threading.Thread(target=answer, args=about).start()


main()
