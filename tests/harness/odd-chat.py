"""A session program whose answers a test steers by what it asks: see the table in `answer`."""

import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "jobs", "emit"))

import emit  # noqa: E402


def main() -> None:
    with emit.program():
        wait_for(os.environ.get("GATE", ""))
        for task in emit.tasks():
            threading.Thread(target=answer, args=(task,)).start()


def answer(task: emit.Task) -> None:
    with task:
        word, _, rest = str(task.metadata["messages"][-1]["content"]).partition(" ")
        if word == "crash":
            emit.text_delta("half an ans")
            os._exit(3)
        elif word == "fail":
            raise RuntimeError("the model does not like this")
        elif word == "hold":
            emit.text_delta("holding")
            wait_for(rest)
        elif word == "whole":
            emit.text(rest)
        elif word == "tool":
            emit.finish(result={"tool_calls": [{"id": "c1", "type": "function", "function": {"name": rest, "arguments": "{}"}}]})
        elif word == "size":
            emit.text(str(len(rest)))
        elif word == "where":
            time.sleep(0.05)
            emit.text(f"{os.environ['SESSION_ID']} {rest}")
        else:
            emit.text_delta(repr(task.metadata.get(word)))


def wait_for(path: str) -> None:
    while path and not os.path.exists(path):
        time.sleep(0.01)


if __name__ == "__main__":
    main()
