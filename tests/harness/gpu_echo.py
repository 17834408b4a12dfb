"""A session of the GPU-service kind: answers each line with how many it has had."""
import json
import sys


def emit(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


emit("worker", status="loading")
emit("worker", status="ready")
count = 0
for line in sys.stdin:
    task = json.loads(line)
    count += 1
    emit("text", content=f"{count}: {task['metadata'].get('say', '')}", model=task["model_id"])
    emit("finish", status="completed")
