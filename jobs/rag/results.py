"""The documented shape of what was found, whole in a file, and in the result as far as a result can carry it."""

import json
from dataclasses import dataclass
from typing import Any

import emit
from answers import Answer
from stoker_job.artifacts import outputs, write_json
from wishes import Asked

_RESULT_BYTES = 200_000


@dataclass(frozen=True)
class Found:
    """Of one task: for each question its passages, and its answer where a model was asked."""

    asked: Asked
    hits: list[list[dict[str, Any]]]
    answers: list[Answer]
    seconds: float
    error: str | None


def leave(found: list[Found], refused: dict[str, str]) -> dict[str, Any]:
    """`queries.json` has everything; the result has what fits, and says what it left out."""
    mine = _task(found[0])
    children = {one.asked.task_id: _task(one) for one in found[1:]} | {task_id: {"ok": False, "error": reason} for task_id, reason in refused.items()}
    write_json(outputs() / "queries.json", {**mine, **({"children": children} if children else {})})
    queries, room = _fitting(mine["queries"], _RESULT_BYTES)
    told, _ = _fitting(list(children.items()), room)
    left = list(children)[len(told) :]
    _say_left_out(len(mine["queries"]) - len(queries), left)
    return {
        "ok": True,
        "executor": "rag",
        "queries": queries,
        "queriesLeftOut": len(mine["queries"]) - len(queries),
        "usage": mine["usage"],
        **({"children": dict(told), "childrenLeftOut": left} if children else {}),
    }


def as_lines(hits: list[dict[str, Any]]) -> str:
    """For people: score, id and the beginning of each passage."""
    return "".join(f"{hit['score']:.3f}  {hit['id']}  {_beginning(hit['payload'])}\n" for hit in hits)


def _beginning(payload: Any) -> str:
    text = " ".join(str((payload or {}).get("text") or payload).split())
    return text if len(text) <= 120 else f"{text[:120]}…"


def _fitting(values: list[Any], room: int) -> tuple[list[Any], int]:
    """As many from the beginning as there is room for, and the room that is left."""
    for count, value in enumerate(values):
        size = len(json.dumps(value, default=str).encode())
        if size > room:
            return values[:count], 0
        room -= size
    return values, room


def _task(found: Found) -> dict[str, Any]:
    if found.error is not None:
        return {"ok": False, "error": found.error}
    queries = [_query(found, number) for number in range(len(found.hits))]
    return {"ok": True, "queries": queries, "usage": _usage(found)}


def _query(found: Found, number: int) -> dict[str, Any]:
    question, hits = found.asked.questions[number], found.hits[number]
    answer = found.answers[number] if found.answers else None
    return {
        "index": number,
        "query": question.text,
        **({"metadata": question.metadata} if question.metadata else {}),
        "items": hits,
        "answer": answer and answer.text,
        "sources": answer.sources if answer else [hit["id"] for hit in hits],
        **({"finish_reason": answer.finish_reason} if answer else {}),
    }


def _usage(found: Found) -> dict[str, Any]:
    counted = {"latency_sec": round(found.seconds, 6), "num_queries": len(found.hits), "total_results": sum(map(len, found.hits))}
    if not found.answers:
        return counted
    asked, written = sum(one.prompt_tokens for one in found.answers), sum(one.completion_tokens for one in found.answers)
    return {**counted, "prompt_tokens": asked, "completion_tokens": written, "total_tokens": asked + written}


def _say_left_out(queries: int, children: list[str]) -> None:
    if queries or children:
        emit.log(f"the result has room for {_RESULT_BYTES} bytes: {queries} queries and {len(children)} children are in outputs/queries.json alone", "warning")

