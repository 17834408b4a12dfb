"""Fetches a file whose checksum is known, from public addresses only."""

import hashlib
import http.client
import ipaddress
import os
import socket
import ssl
import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path

import emit

from .artifacts import write_whole
from .problems import Failed, Refused

_TIMEOUT_SECONDS = 30
_MOST_REDIRECTS = 5
_MOST_BYTES = 50 * 1000**3
_PIECE_BYTES = 1024 * 1024


def is_public(address: str) -> bool:
    """Neither this machine nor a private network: an input must not reach what only the worker can reach."""
    return ipaddress.ip_address(address.split("%")[0]).is_global


def fetch(
    name: str, url: str, target: Path, sha256: str, is_allowed: Callable[[str], bool] = is_public,
    headers: Mapping[str, str] | None = None, timeout_seconds: float = _TIMEOUT_SECONDS,
) -> None:  # fmt: skip
    """Writes the file only when all of it came and its checksum is right. The headers go to the URL's own host alone."""
    answer = _open(name, url, is_allowed, headers or {}, timeout_seconds)
    try:
        write_whole(target, lambda part: _save(name, url, answer, part, sha256))
    finally:
        answer.close()


def _open(name: str, url: str, is_allowed: Callable[[str], bool], headers: Mapping[str, str], timeout_seconds: float) -> http.client.HTTPResponse:
    asked = urllib.parse.urlsplit(url)
    for _ in range(_MOST_REDIRECTS):
        now = urllib.parse.urlsplit(url)
        is_same_host = (now.scheme, now.netloc) == (asked.scheme, asked.netloc)
        answer = _ask(name, url, is_allowed, headers if is_same_host else {}, timeout_seconds)
        if answer.status == 200:
            return answer
        location = answer.getheader("location")
        answer.close()
        if answer.status not in (301, 302, 303, 307, 308) or location is None:
            raise Failed(f"{name}: {url} answers {answer.status} {answer.reason}, 200 was expected")
        url = urllib.parse.urljoin(url, location)
    raise Failed(f"{name}: {url} was the {_MOST_REDIRECTS}th redirect, that is one too many")


def _ask(name: str, url: str, is_allowed: Callable[[str], bool], headers: Mapping[str, str], timeout_seconds: float) -> http.client.HTTPResponse:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Refused(f"{name} is {url}, only http and https are fetched")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    connection = http.client.HTTPConnection(parts.hostname, port, timeout=timeout_seconds)
    try:
        connection.sock = connected(name, parts.hostname, port, is_allowed, timeout_seconds)
        if parts.scheme == "https":
            connection.sock = ssl.create_default_context().wrap_socket(connection.sock, server_hostname=parts.hostname)
        path = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
        connection.request("GET", path, headers={**headers, "host": parts.netloc.rsplit("@", 1)[-1], "connection": "close"})
        return connection.getresponse()
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        raise Failed(f"{name}: {url} cannot be fetched ({error}); does the job have network: internet?") from error


def connected(name: str, host: str, port: int, is_allowed: Callable[[str], bool], timeout_seconds: float) -> socket.socket:
    """Connects to the very address that was checked, so that a name cannot change its mind in between."""
    addresses = [str(info[4][0]) for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    for address in addresses:
        if not is_allowed(address):
            raise Refused(f"{name}: {host} is {address}, which is no public address")
    return socket.create_connection((addresses[0], port), timeout=timeout_seconds)


def _save(name: str, url: str, answer: http.client.HTTPResponse, part: Path, sha256: str) -> None:
    size = int(answer.getheader("content-length") or 0)
    digest, done = hashlib.sha256(), 0
    with part.open("wb") as out:
        while piece := answer.read(_PIECE_BYTES):
            out.write(piece)
            digest.update(piece)
            done += len(piece)
            if done > _MOST_BYTES:
                raise Failed(f"{name}: {url} has more than {_MOST_BYTES} bytes, the most that is fetched")
            emit.progress(5 * done / max(size, done), f"fetching {os.path.basename(urllib.parse.urlsplit(url).path)}")
    if digest.hexdigest() != sha256:
        raise Failed(f"{name}: what {url} sent has the SHA-256 {digest.hexdigest()}, {sha256} was expected")
