"""An index of the job's own: every passage is compared, so what is found is what is nearest."""

from typing import Any

import numpy

_QUERIES_AT_ONCE = 256


class ExactIndex:
    """Vectors of length one, so that their product is the cosine."""

    def __init__(self, hits: list[dict[str, Any]], vectors: numpy.ndarray) -> None:
        self._hits, self._vectors = hits, vectors

    def nearest(self, queries: numpy.ndarray, top_k: int) -> list[list[dict[str, Any]]]:
        """The best first; of equals the one that was given first."""
        found: list[list[dict[str, Any]]] = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            scores = queries[start : start + _QUERIES_AT_ONCE] @ self._vectors.T
            found += [self._best(row, top_k) for row in scores]
        return found

    def facts(self) -> dict[str, Any]:
        return {"kind": "exact", "passages": len(self._hits), "dimensions": int(self._vectors.shape[1])}

    def _best(self, scores: numpy.ndarray, top_k: int) -> list[dict[str, Any]]:
        order = numpy.argsort(-scores, kind="stable")[:top_k]
        return [{"id": self._hits[at]["id"], "score": float(scores[at]), "payload": self._hits[at]["payload"]} for at in order]
