"""Answers chats, completions and embeddings without a model: an echo, for trying out and for tests.

Chat: the last message of the user comes back, word by word. Completion: the prompt comes back. Embedding: words are
counted into as many numbers as asked for. Words are counted as tokens. Takes several tasks at once.
"""

import math
import threading
import time
import zlib
from typing import Any, Dict, Iterator, List

import emit

DIMENSIONS = 16


def main() -> None:
    with emit.program():
        running: List[threading.Thread] = []
        for task in emit.tasks():
            running = [one for one in running if one.is_alive()]
            running.append(threading.Thread(target=answer, args=(task,)))
            running[-1].start()
        for one in running:
            one.join()


def answer(task: emit.Task) -> None:
    with task:
        request = task.metadata
        kind = request.get("kind")
        if kind == "embedding":
            embed(request)
        elif kind in ("chat", "completion"):
            repeat(request, words_of(said_last(request) if kind == "chat" else str(request.get("prompt", ""))))
        else:
            raise ValueError(f"kind is {kind!r}; this program knows chat, completion and embedding")


def repeat(request: Dict[str, Any], words: List[str]) -> None:
    most = request.get("max_completion_tokens") or request.get("max_tokens") or len(words)
    for word in words[:most]:
        emit.text_delta(word)
        time.sleep(float(request.get("pause_seconds", 0)))
    emit.text("".join(words[:most]))
    usage = {"prompt_tokens": asked_tokens(request), "completion_tokens": len(words[:most])}
    emit.finish(result={"usage": usage, "finish_reason": "length" if most < len(words) else "stop"})


def embed(request: Dict[str, Any]) -> None:
    dimensions = int(request.get("dimensions") or DIMENSIONS)
    texts = [str(one) for one in request.get("input", [])]
    usage = {"prompt_tokens": sum(len(words_of(one)) for one in texts)}
    emit.finish(result={"embeddings": [vector(one, dimensions) for one in texts], "usage": usage})


def vector(text: str, dimensions: int) -> List[float]:
    counts = [0.0] * dimensions
    for word in words_of(text.lower()):
        counts[zlib.crc32(word.strip().encode()) % dimensions] += 1
    length = math.sqrt(sum(count * count for count in counts)) or 1.0
    return [count / length for count in counts]


def said_last(request: Dict[str, Any]) -> str:
    said = [message for message in request.get("messages", []) if message.get("role") == "user"]
    return text_of(said[-1].get("content")) if said else ""


def text_of(content: Any) -> str:
    """A message is a text, or a list of parts of which some are texts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
    return "" if content is None else str(content)


def asked_tokens(request: Dict[str, Any]) -> int:
    texts = [text_of(message.get("content")) for message in request.get("messages", [])]
    return sum(len(words_of(one)) for one in [*texts, str(request.get("prompt", ""))])


def words_of(text: str) -> List[str]:
    """Words with the space before them, so that together they are the text."""
    return list(_words(text))


def _words(text: str) -> Iterator[str]:
    start = 0
    for at in range(1, len(text)):
        if text[at].isspace() and not text[at - 1].isspace():
            yield text[start:at]
            start = at
    if text:
        yield text[start:]


if __name__ == "__main__":
    main()
