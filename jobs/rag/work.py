"""The passages nearest to each question, and where a model is named an answer from them; children are answered by their ids."""

import hashlib
import json
import os
import time
from typing import Any

import emit
import torch
from answers import Answer, Way, Writer
from documents import documents_of
from encoder import Encoder
from exact_index import ExactIndex
from kept import Kept
from qdrant import QdrantIndex, open_collection
from results import Found, as_lines, leave
from stoker_job.inputs import Inputs
from stoker_job.model_source import source_of
from stoker_job.problems import Failed, Refused
from stoker_job.ranks import Ranks, joined
from stoker_job.repeatable import be_repeatable
from wishes import Asked, Wishes, wishes_of

_encoders: Kept[Encoder] = Kept()
_writers: Kept[Writer] = Kept()
_indices: Kept[tuple[ExactIndex, int]] = Kept()


def work(inputs: Inputs) -> dict[str, Any]:
    if int(os.environ.get("WORLD_SIZE") or 1) > 1:
        raise Refused(f"WORLD_SIZE is {os.environ['WORLD_SIZE']}, questions are answered by one process: leave ranks out")
    be_repeatable()
    wishes = wishes_of(inputs)
    with joined() as ranks:
        device = torch.device("cpu") if inputs["enforce_cpu"] else ranks.device
        encoder = _encoder(wishes.embedding, device)
        asked, too_long = _fitting(wishes, encoder)
        writer = None if wishes.model is None else _writer(wishes.model, device)
        index, documents = _index(inputs, wishes, encoder)
        found = _found(asked, wishes, encoder, index, writer)
        return {**leave(found, {**wishes.refused, **too_long}), **_facts(wishes, encoder, index, documents), **_device(ranks, device)}


def _encoder(asked: Inputs, device: torch.device) -> Encoder:
    def load() -> Encoder:
        emit.worker("loading", f"loading the encoder {asked['model'] or 'of the job'}")
        source = source_of("embedding.model", asked["model"], asked["model_sha256"], asked["revision"])
        return Encoder(source, device, asked["batch_size"], asked["max_length"])

    return _encoders.get(_encoder_key(asked, device), load)


def _encoder_key(asked: Inputs, device: torch.device) -> tuple[Any, ...]:
    return *(asked[name] for name in ("model", "model_sha256", "revision", "batch_size", "max_length")), str(device)


def _writer(asked: Inputs, device: torch.device) -> Writer:
    if asked["device_map"] == "cuda" and device.type != "cuda":
        raise Refused(f"model.transformers.device_map is cuda, the job computes on {device.type}")
    place = torch.device("cpu") if asked["device_map"] == "cpu" else device

    def load() -> Writer:
        emit.worker("loading", f"loading the model {asked['identifier']}")
        return Writer(source_of("model", asked["identifier"], asked["sha256"], asked["revision"]), place, asked["dtype"])

    return _writers.get((asked["identifier"], asked["sha256"], asked["revision"], asked["dtype"], str(place)), load)


def _fitting(wishes: Wishes, encoder: Encoder) -> tuple[list[Asked], dict[str, str]]:
    """A question that is longer than the encoder reads would be searched by its beginning alone: refused, of a child alone."""
    fits: list[Asked] = []
    too_long: dict[str, str] = {}
    for asked in (wishes.own, *wishes.children):
        longest = max(encoder.tokens(wishes.embedding["query_prefix"] + one.text) for one in asked.questions)
        sentence = f"a question has {longest} tokens, the encoder reads {encoder.max_length}"
        if longest <= encoder.max_length:
            fits.append(asked)
        elif asked.task_id is None:
            raise Refused(sentence)
        else:
            too_long[asked.task_id] = sentence
    return fits, too_long


def _index(inputs: Inputs, wishes: Wishes, encoder: Encoder) -> tuple[ExactIndex | QdrantIndex, int | None]:
    """Of the job's own documents, kept by a session while they stay the same; or the collection, into which they are written."""
    collection = None
    if wishes.qdrant is not None:
        asked = wishes.qdrant
        collection = open_collection(asked["url"], asked["collection"], asked["api_key"], encoder.dimensions, inputs["documents"] is not None)
        if inputs["documents"] is None:
            return collection, None
    documents = documents_of(inputs["documents"], inputs["documents_sha256"])
    parts = [(document, encoder.windows(document.text, wishes.embedding["document_prefix"])) for document in documents]
    hits = [
        {"id": document.id if len(texts) == 1 else f"{document.id}/{number}", "payload": {**document.payload, "text": text}}
        for document, texts in parts
        for number, text in enumerate(texts, 1)
    ]
    if collection is not None:
        collection.write(hits, _embedded(hits, wishes, encoder))
        return collection, len(documents)
    content = hashlib.sha256(json.dumps([hits, wishes.embedding["document_prefix"]], default=str).encode()).hexdigest()
    return _indices.get((content, _encoder_key(wishes.embedding, encoder.device)), lambda: (ExactIndex(hits, _embedded(hits, wishes, encoder)), len(documents)))


def _embedded(hits: list[dict[str, Any]], wishes: Wishes, encoder: Encoder) -> Any:
    texts = [wishes.embedding["document_prefix"] + hit["payload"]["text"] for hit in hits]
    return encoder.embed(texts, lambda done: emit.progress(5 + 55 * done / len(texts), f"passage {done}/{len(texts)}"))


def _found(asked: list[Asked], wishes: Wishes, encoder: Encoder, index: ExactIndex | QdrantIndex, writer: Writer | None) -> list[Found]:
    """All questions are searched together; the time of each task is its share of that and its own answers."""
    start = time.monotonic()
    texts = [wishes.embedding["query_prefix"] + one.text for task in asked for one in task.questions]
    hits = index.nearest(encoder.embed(texts), wishes.top_k)
    emit.progress(65, f"{len(texts)} questions searched")
    each = (time.monotonic() - start) / len(texts)
    found: list[Found] = []
    for task in asked:
        own, hits = hits[: len(task.questions)], hits[len(task.questions) :]
        found.append(_answered(task, own, each, wishes, writer, len(found) / len(asked)))
    return found


def _answered(task: Asked, hits: list[list[dict[str, Any]]], each: float, wishes: Wishes, writer: Writer | None, done: float) -> Found:
    """Only what the job itself asked is said aloud: answers of children belong to others."""
    start = time.monotonic()
    say = emit.text_delta if task.task_id is None else _nobody
    answers: list[Answer] = []
    error = None
    try:
        for question, own in zip(task.questions, hits, strict=True):
            if len(task.questions) > 1:
                say(f"{question.text}\n")
            if writer is None:
                say(as_lines(own))
                continue
            emit.progress(65 + 30 * done, f"answering question {len(answers) + 1}/{len(task.questions)}")
            system_prompt = task.system_prompt if question.has_system else None
            answers.append(writer.answer(question.text, own, system_prompt, Way(wishes.inference, wishes.stops, say)))
            if len(task.questions) > 1:
                say("\n\n")
    except (Refused, Failed) as problem:
        if task.task_id is None:
            raise
        error = str(problem)
    return Found(task, hits, answers, each * len(hits) + time.monotonic() - start, error)


def _nobody(_: str) -> None:
    pass


def _facts(wishes: Wishes, encoder: Encoder, index: ExactIndex | QdrantIndex, documents: int | None) -> dict[str, Any]:
    at = wishes.qdrant
    own = index.facts() if isinstance(index, ExactIndex) else None
    return {
        "qdrant": None if at is None else {"collection": at["collection"], "url": at["url"]},
        "index": own,
        "documents": documents,
        "embedding": {"model": encoder.name, "dimensions": encoder.dimensions, "pooling": encoder.pooling, "max_length": encoder.max_length},
        "search": {"top_k": wishes.top_k},
        "model": None if wishes.model is None else wishes.model["identifier"],
        "dataset": None,
    }


def _device(ranks: Ranks, device: torch.device) -> dict[str, Any]:
    return {**ranks.facts(), **({"device": "cpu"} if device.type == "cpu" else {})}
