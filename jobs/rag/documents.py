"""What is searched: documents given in the input or in files, each with an id and whatever else it says of itself."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stoker_job.inputs import shown
from stoker_job.locate import locate
from stoker_job.problems import Failed, Refused

_PROSE = (".txt", ".md")
_KNOWN = (*_PROSE, ".jsonl", ".json", ".csv")


@dataclass(frozen=True)
class Document:
    """A text that is found as a whole; `payload` has it under `text`, beside all else that was said of it."""

    id: int | str
    payload: dict[str, Any]

    @property
    def text(self) -> str:
        return self.payload["text"]


def documents_of(given: Any, sha256: str | None) -> list[Document]:
    """In the order they were given; ids that occur twice are refused, for one of both could never be named."""
    rows = list(_from_path(given, sha256) if isinstance(given, str) else _from_list(given, sha256))
    if not rows:
        raise Failed("documents has none, at least one is needed")
    documents = [_document(row, number) for number, row in enumerate(rows)]
    seen: dict[int | str, int] = {}
    for number, document in enumerate(documents):
        if document.id in seen:
            raise Refused(f"documents {seen[document.id]} and {number} both have the id {shown(document.id)}")
        seen[document.id] = number
    return documents


def _from_list(given: Any, sha256: str | None) -> list[Any]:
    if not isinstance(given, list):
        raise Refused(f"documents is {shown(given)}, it must be a list of texts or objects, or the name of a file or folder")
    if sha256 is not None:
        raise Refused("documents_sha256 is given, and documents is a list: it belongs to a file")
    return given


def _from_path(given: str, sha256: str | None) -> Iterator[Any]:
    path = locate("documents", given, sha256)
    if path.is_file():
        yield from _rows(path, path.name)
        return
    files = sorted(file for file in path.rglob("*") if file.is_file() and file.suffix.lower() in _KNOWN)
    if not files:
        raise Failed(f"documents {given} has no file that ends with {', '.join(_KNOWN)}")
    for file in files:
        yield from _rows(file, file.relative_to(path).as_posix())


def _rows(file: Path, name: str) -> Iterator[Any]:
    suffix = file.suffix.lower()
    if suffix not in _KNOWN:
        raise Failed(f"documents {name} ends with {suffix or 'nothing'}, files that end with {', '.join(_KNOWN)} are read")
    try:
        yield from _parsed(suffix, file.read_text("utf-8-sig"), name)
    except (ValueError, csv.Error) as error:
        raise Failed(f"documents {name} cannot be read: {error}") from error


def _parsed(suffix: str, content: str, name: str) -> Iterator[Any]:
    if suffix in _PROSE:
        yield from _paragraphs(content, name)
    elif suffix == ".csv":
        yield from csv.DictReader(content.splitlines(keepends=True))
    elif suffix == ".jsonl":
        yield from (json.loads(line) for line in content.split("\n") if line.strip())
    else:
        whole = json.loads(content)
        yield from whole if isinstance(whole, list) else [whole]


def _paragraphs(content: str, name: str) -> Iterator[dict[str, Any]]:
    """Prose is found by the paragraph; blank lines part them, and a heading belongs to what it stands above."""
    parts = [part.strip() for part in "\n".join(line.rstrip() for line in content.splitlines()).split("\n\n")]
    number, headings = 0, ""
    for part in [part for part in parts if part]:
        if part.startswith("#") and "\n" not in part:
            headings += f"{part}\n"
            continue
        number += 1
        yield {"id": f"{name}#{number}", "text": headings + part, "file": name}
        headings = ""


def _document(row: Any, number: int) -> Document:
    payload = {"text": row} if isinstance(row, str) else row
    text = payload.get("text") if isinstance(payload, dict) else None
    if not isinstance(text, str) or not text.strip():
        raise Refused(f"document {number} is {shown(row)}, it must be a text or an object whose text is one")
    named = payload.get("id", number)
    if isinstance(named, bool) or not isinstance(named, (int, str)):
        raise Refused(f"the id of document {number} is {shown(named)}, it must be a whole number or a text")
    return Document(named, {key: value for key, value in payload.items() if key != "id"})
