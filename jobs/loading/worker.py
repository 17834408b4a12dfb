"""The loading example: pretends to load a model, then answers in small pieces. One-off and session alike.

METADATA_TOPIC           what the answer is about
METADATA_STEPS           steps of loading (4)
METADATA_STEP_SECONDS    pause after each step and each piece (0.05)
METADATA_FAIL            True: the task fails after its first piece
"""

import os
import time
from typing import Any, Dict

import emit


def load(steps: int, pause: float) -> None:
    emit.worker("loading", "loading the model")
    for step in range(1, steps + 1):
        time.sleep(pause)
        emit.progress(100 * step / steps, f"part {step} of {steps}")


def answer(metadata: Dict[str, Any], pause: float) -> None:
    emit.worker("working", "answering")
    whole = ""
    for piece in ("All ", "about ", str(metadata.get("topic", "nothing")), ", ", "piece ", "by ", "piece.\n"):
        emit.text_delta(piece)
        whole += piece
        if metadata.get("fail"):
            raise RuntimeError("told to fail")
        time.sleep(pause)
    emit.text(whole)


def main() -> None:
    steps = int(os.environ.get("METADATA_STEPS", "4"))
    pause = float(os.environ.get("METADATA_STEP_SECONDS", "0.05"))
    with emit.program(worker="loading", model=os.environ.get("MODEL_NAME", "")):
        emit.worker("initializing", "starting")
        load(steps, pause)
        for task in emit.tasks():
            with task:
                answer(task.metadata, pause)
                emit.worker("cleaning_up", "letting go of what the task used")


if __name__ == "__main__":
    main()
