"""A small server for tests that speaks the documented REST shapes of Qdrant; it is not Qdrant."""

import http.server
import json
import re
import threading
from typing import Any

import numpy


class QdrantStandIn:
    """As a context: a server on a free port. `calls` are the requests it got, with their keys."""

    def __init__(self, api_key: str) -> None:
        self.api_key, self.collections, self.calls = api_key, {}, []

    def __enter__(self) -> "QdrantStandIn":
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        found = re.fullmatch(r"/collections/([^/?]+)(/.*)?", path)
        if found is None:
            return 404, None
        name, rest = found[1], found[2] or ""
        if method == "PUT" and rest == "":
            self.collections[name] = {"vectors": body["vectors"], "points": {}}
            return 200, True
        if name not in self.collections:
            return 404, f"Not found: Collection `{name}` doesn't exist!"
        collection = self.collections[name]
        if method == "GET" and rest == "":
            return 200, {"status": "green", "points_count": len(collection["points"]), "config": {"params": {"vectors": collection["vectors"]}}}
        if method == "PUT" and rest == "/points?wait=true":
            collection["points"].update({point["id"]: point for point in body["points"]})
            return 200, {"operation_id": 1, "status": "completed"}
        if method == "POST" and rest == "/points/query/batch":
            return 200, [{"points": _nearest(collection, search)} for search in body["searches"]]
        return 404, None


def _nearest(collection: dict[str, Any], search: dict[str, Any]) -> list[dict[str, Any]]:
    named = search.get("using")
    scored = []
    for point in collection["points"].values():
        vector = numpy.array(point["vector"] if named is None else point["vector"][named])
        score = float(vector @ numpy.array(search["query"]) / numpy.linalg.norm(vector))
        scored.append({"id": point["id"], "version": 1, "score": score, "payload": point["payload"]})
    return sorted(scored, key=lambda one: -one["score"])[: search["limit"]]


def _handler(stand_in: QdrantStandIn) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def _answer(self) -> None:
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
            stand_in.calls.append(f"{self.command} {self.path}")
            status, result = 401, None
            if self.headers.get("api-key") == stand_in.api_key:
                status, result = stand_in.answer(self.command, self.path, json.loads(content) if content else None)
            said = {"result": result, "status": "ok", "time": 0.001} if status == 200 else {"status": {"error": result or "Invalid API key"}, "time": 0.0}
            body = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_PUT = do_POST = _answer

        def log_message(self, *_: object) -> None:
            pass

    return Handler
