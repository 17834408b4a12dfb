"""One JSON request to a service that an input names, under the guards of fetch.py: no redirects, no private addresses."""

import http.client
import json
import os
import ssl
import urllib.parse
from collections.abc import Mapping
from typing import Any

from .fetch import connected, is_public
from .problems import Failed, Refused

_TIMEOUT_SECONDS = 60
_MOST_BYTES = 64 * 1000**2


def call_json(name: str, method: str, url: str, body: Any = None, headers: Mapping[str, str] | None = None) -> tuple[int, Any]:
    """The status and what was answered. Hosts listed in PRIVATE_HOSTS (with commas between) may have private addresses. `name` is for the sentences."""
    parts, port = _parts(name, url)
    content = None if body is None else json.dumps(body).encode()
    connection = http.client.HTTPConnection(parts.hostname or "", port, timeout=_TIMEOUT_SECONDS)
    try:
        _open(name, parts, connection)
        given = {**(headers or {}), "host": parts.netloc, "content-type": "application/json", "connection": "close"}
        connection.request(method, urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, "")), content, given)
        answer = connection.getresponse()
        return answer.status, _read(name, url, answer)
    except (OSError, http.client.HTTPException, UnicodeError) as error:
        raise Failed(f"{name}: {url} cannot be reached ({error}); does the job have network: internet?") from error
    finally:
        connection.close()


def _parts(name: str, url: str) -> tuple[urllib.parse.SplitResult, int]:
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise Refused(f"{name} is {url}, which is no URL: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Refused(f"{name} is {url}, it must begin with http:// or https:// and name a host")
    if "@" in parts.netloc:
        raise Refused(f"{name} has a name and password in it, and a URL is shown in logs and results: leave them out")
    return parts, port or (443 if parts.scheme == "https" else 80)


def _open(name: str, parts: urllib.parse.SplitResult, connection: http.client.HTTPConnection) -> None:
    hosts = [host.strip() for host in os.environ.get("PRIVATE_HOSTS", "").split(",")]
    allowed = (lambda _: True) if connection.host in hosts else is_public
    connection.sock = connected(name, connection.host, connection.port, allowed, _TIMEOUT_SECONDS)
    if parts.scheme == "https":
        connection.sock = ssl.create_default_context().wrap_socket(connection.sock, server_hostname=connection.host)


def _read(name: str, url: str, answer: http.client.HTTPResponse) -> Any:
    content = answer.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise Failed(f"{name}: {url} answers with more than {_MOST_BYTES} bytes, the most that is read")
    try:
        return json.loads(content) if content else None
    except ValueError:
        raise Failed(f"{name}: {url} answers {answer.status} with something that is no JSON: {content[:80]!r}") from None
