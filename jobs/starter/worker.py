"""PROGRAM_NAME: one task after another, as a one-off or as a session."""

import os
from typing import Any, Dict

import emit


def load() -> str:
    """Load the model once, from MODEL_PATH; a session keeps it between its tasks."""
    emit.worker("loading", "loading the model")
    emit.progress(100, "loaded")
    return os.environ.get("MODEL_NAME", "")


def answer(model: str, metadata: Dict[str, Any]) -> str:
    """The work of one task."""
    words = ["Hello, ", str(metadata.get("name", "world")), f", from {model or 'nobody'}."]
    for word in words:
        emit.text_delta(word)
    return "".join(words)


def main() -> None:
    with emit.program():
        model = load()
        for task in emit.tasks():
            with task:
                emit.worker("working")
                emit.text(answer(model, task.metadata))


if __name__ == "__main__":
    main()
