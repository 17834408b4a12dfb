"""A collection of a Qdrant server (1.10 or later) as the index, over its HTTP API."""

import re
import uuid
from typing import Any

import numpy
from stoker_job.json_call import call_json
from stoker_job.problems import Failed, Refused

_POINTS_AT_ONCE = 256
_QUERIES_AT_ONCE = 64
_IDS = uuid.UUID("c1b1f6f0-6f0c-5c53-9d0e-6b5a3b0a7f11")


class QdrantIndex:
    """Made by `open_collection`, which has compared the sizes of its vectors."""

    def __init__(self, url: str, collection: str, api_key: str | None, vector: str | None) -> None:
        self._base, self._api_key, self._vector = f"{url}/collections/{collection}", api_key, vector

    def write(self, hits: list[dict[str, Any]], vectors: numpy.ndarray) -> None:
        """Waits until they can be found; the same passage written again takes its own place."""
        rows = [{"id": point_id(hit["id"]), "vector": self._named(row.tolist()), "payload": {"id": hit["id"], **hit["payload"]}} for hit, row in zip(hits, vectors, strict=True)]
        for start in range(0, len(rows), _POINTS_AT_ONCE):
            self._call("PUT", "/points?wait=true", {"points": rows[start : start + _POINTS_AT_ONCE]})

    def nearest(self, queries: numpy.ndarray, top_k: int) -> list[list[dict[str, Any]]]:
        using = {} if self._vector is None else {"using": self._vector}
        searches = [{"query": row.tolist(), "limit": top_k, "with_payload": True, **using} for row in queries]
        found: list[list[dict[str, Any]]] = []
        for start in range(0, len(searches), _QUERIES_AT_ONCE):
            asked = searches[start : start + _QUERIES_AT_ONCE]
            answers = self._call("POST", "/points/query/batch", {"searches": asked})
            if not isinstance(answers, list) or len(answers) != len(asked):
                raise Failed(f"qdrant answered {len(answers) if isinstance(answers, list) else 'no'} of {len(asked)} searches")
            found += [[{key: point.get(key) for key in ("id", "score", "payload")} for point in answer["points"]] for answer in answers]
        return found

    def _named(self, vector: list[float]) -> Any:
        return vector if self._vector is None else {self._vector: vector}

    def _call(self, method: str, path: str, body: Any) -> Any:
        return _result(method, self._base + path, *call_json("qdrant.url", method, self._base + path, body, _headers(self._api_key)))


def open_collection(url: str, collection: str, api_key: str | None, dimensions: int, is_made: bool) -> QdrantIndex:
    """Looks at the collection before anything is computed; `is_made`: one that is not there is made."""
    if not re.fullmatch(r"\w[\w.-]{0,254}", collection, re.ASCII):
        raise Refused(f"qdrant.collection is {collection!r}, it must be of letters, digits, dots, - and _, and not begin with a dot")
    base = url.rstrip("/")
    place = f"{base}/collections/{collection}"
    status, answer = call_json("qdrant.url", "GET", place, None, _headers(api_key))
    if status == 404 and is_made:
        wanted = {"vectors": {"size": dimensions, "distance": "Cosine"}}
        _result("PUT", place, *call_json("qdrant.url", "PUT", place, wanted, _headers(api_key)))
        return QdrantIndex(base, collection, api_key, None)
    config = _result("GET", place, status, answer)["config"]["params"].get("vectors") or {}
    return QdrantIndex(base, collection, api_key, _vector_of(collection, config, dimensions))


def point_id(given: int | str) -> int | str:
    """Qdrant takes whole numbers and UUIDs; another id becomes a UUID, always the same, and is kept in the payload."""
    if isinstance(given, int) and 0 <= given < 2**64:
        return given
    try:
        return str(uuid.UUID(str(given)))
    except ValueError:
        return str(uuid.uuid5(_IDS, str(given)))


def _vector_of(collection: str, config: dict[str, Any], dimensions: int) -> str | None:
    """The name of its one vector; None where it has no name."""
    named = {None: config} if "size" in config else config
    if len(named) != 1:
        raise Failed(f"the collection {collection} has {len(named)} vectors ({', '.join(map(str, named))}), one of them cannot be chosen")
    (name, params), = named.items()
    if params["size"] != dimensions:
        raise Failed(f"the collection {collection} has vectors of {params['size']} numbers, those of the encoder have {dimensions}: name the encoder it was filled with")
    return name


def _result(method: str, url: str, status: int, answer: Any) -> Any:
    if status == 200 and isinstance(answer, dict) and "result" in answer:
        return answer["result"]
    said = answer.get("status") if isinstance(answer, dict) else answer
    reason = said.get("error") if isinstance(said, dict) else said
    raise Failed(f"qdrant answers {status} to {method} {url}: {str(reason)[:300]}")


def _headers(api_key: str | None) -> dict[str, str]:
    return {} if api_key is None else {"api-key": api_key}
