"""Rows of a dataset: from a JSONL file of the job, a dataset in its folder, or a dataset of a hub."""

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import emit

from ..dataset_open import open_dataset
from ..inputs import Inputs, shown
from ..locate import locate
from ..problems import Failed, Refused
from .libraries import prepare_libraries

Row = dict[str, Any]


def read_jsonl(name: str, path: str, sha256: str | None, most: int | None) -> list[Row]:
    """One JSON object for each line; empty lines are passed over."""
    file = locate(name, path, sha256)
    if file.is_dir():
        raise Failed(f"{name} {path} is a folder, it must be a file with one JSON object for each line")
    with file.open(encoding="utf8") as lines:
        return list(islice(_objects(file, lines), most))


def read_dataset(data: Inputs) -> list[Row]:
    """By name: a file or folder of the job goes before a hub."""
    name, most = data["dataset_name"], data["max_samples"]
    if name.endswith(".jsonl"):
        return read_jsonl("data.dataset_name", name, data["sha256"], most)
    prepare_libraries()
    return list(islice(open_dataset("data.dataset_name", name, data["config_name"], data), most))


def _objects(file: Path, lines: Iterable[str]) -> Iterator[Row]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise Failed(f"{file.name} line {number} is no JSON: {error}") from error
        if not isinstance(row, dict):
            raise Failed(f"{file.name} line {number} is {shown(row)}, it must be an object")
        yield row


def texts_in(rows: list[Row], columns: list[str]) -> list[list[str]]:
    """The texts of these columns, row by row; what is missing or no text is told with its row. Empty ones are left out and counted."""
    found = [[_text(row, number, column) for column in columns] for number, row in enumerate(rows, 1)]
    full = [texts for texts in found if all(text.strip() for text in texts)]
    if len(full) < len(found):
        emit.log(f"{len(found) - len(full)} of {len(found)} rows have an empty text and are left out", "warning")
    return full


def _text(row: Row, number: int, column: str) -> str:
    if column not in row:
        raise Failed(f"row {number} has no column {column}, it has {', '.join(map(str, row)) or 'none'}")
    value = row[column]
    if not isinstance(value, str):
        raise Failed(f"row {number} has {shown(value)} in column {column}, it must be a text")
    return value


def one_source(data: Inputs, names: list[str]) -> str:
    """The one place the data comes from: there is no built-in data, and two places would leave one unread."""
    given = [name for name in names if data[name] is not None]
    if len(given) != 1:
        raise Refused(f"data has {' and '.join(given) or 'none'} of {', '.join(names)}, exactly one says where the examples come from")
    return given[0]
