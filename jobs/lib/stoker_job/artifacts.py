"""The files a program leaves: all below `outputs/` in its working folder, whole or not at all."""

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

_TYPES = {
    ".json": "application/json",
    ".png": "image/png",
    ".gz": "application/gzip",
    ".jsonl": "application/x-ndjson",
}


def outputs() -> Path:
    """The folder whose files are the job's artifacts; made when it is needed."""
    folder = Path("outputs")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_whole(path: Path, write: Callable[[Path], None]) -> None:
    """Nobody ever sees half a file: it is written beside, synced and renamed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        write(part)
        synced(part)
        os.replace(part, path)
        synced(path.parent)
    finally:
        part.unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    """Readable by people and programs alike."""
    text = json.dumps(value, indent=2, default=str) + "\n"
    write_whole(path, lambda part: _write_text(part, text))


def listed(before: frozenset[tuple[Path, int, int]] = frozenset()) -> list[dict[str, Any]]:
    """Every file below `outputs/`, by the name under which it can be downloaded, save those that are as they were before."""
    return [_described(file, file.relative_to("outputs")) for file, *_ in sorted(present() - before)]


def present() -> frozenset[tuple[Path, int, int]]:
    """The files below `outputs/` with size and time: enough to see what changed without reading any."""
    files = [file for file in Path("outputs").rglob("*") if file.is_file() and not file.name.startswith(".")]
    return frozenset((file, file.stat().st_size, file.stat().st_mtime_ns) for file in files)


def sha256_of(file: Path) -> str:
    """Read in pieces: weights may be larger than the memory."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(1024 * 1024):
            digest.update(piece)
    return digest.hexdigest()


def _described(file: Path, name: Path) -> dict[str, Any]:
    kind = _TYPES.get(file.suffix, "application/octet-stream")
    return {"name": name.as_posix(), "size": file.stat().st_size, "sha256": sha256_of(file), "contentType": kind}


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, "utf8")


def synced(path: Path) -> None:
    """What a file or folder holds is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
