"""Texts with labels: JSON lines or a CSV file with the columns text and label."""

import csv
import json
from pathlib import Path

from ..problems import Failed
from .examples import Dataset, Examples, dataset_of, numbered

SUFFIXES = (".jsonl", ".ndjson", ".csv")
_HELD_OUT = ("test", "val", "validation")


def is_texts(path: Path) -> bool:
    return (path.is_file() and path.suffix.lower() in SUFFIXES) or (path.is_dir() and _named(path, ("train",)) is not None)


def open_texts(name: str, path: Path, seed: int) -> Dataset:
    """One file, of which a part is held out; or a folder with train and test files."""
    train_file = path if path.is_file() else _named(path, ("train",))
    assert train_file is not None
    apart = None if path.is_file() else _named(path, _HELD_OUT)
    texts, labels = _read(name, train_file)
    numbers, classes = numbered(labels)
    train = Examples(texts, numbers)
    if apart is None:
        return dataset_of(name, "text", classes, train, None, seed)
    held_texts, held_labels = _read(name, apart)
    return dataset_of(name, "text", classes, train, Examples(held_texts, numbered(held_labels, classes)[0]), seed)


def _named(folder: Path, names: tuple[str, ...]) -> Path | None:
    files = [folder / (name + suffix) for name in names for suffix in SUFFIXES]
    return next((file for file in files if file.is_file()), None)


def _read(name: str, file: Path) -> tuple[list[str], list[str]]:
    texts, labels = [], []
    for number, row in enumerate(_rows(file), 1):
        text, label = (row.get("text"), row.get("label")) if isinstance(row, dict) else (None, None)
        if not isinstance(text, str) or isinstance(label, (bool, float, list, dict)) or label is None:
            raise Failed(f"entry {number} of {file.name} has text {json.dumps(text)[:60]} and label {json.dumps(label)[:60]}, a text and a text or whole number are needed")
        texts.append(text)
        labels.append(str(label))
    if not texts:
        raise Failed(f"dataset {name}: {file.name} is empty, entries with text and label are needed")
    return texts, labels


def _rows(file: Path) -> list[object]:
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            if file.suffix.lower() == ".csv":
                return list(csv.DictReader(stream))
            return [json.loads(line) for line in stream if line.strip()]
    except (UnicodeDecodeError, json.JSONDecodeError, csv.Error) as error:
        raise Failed(f"{file.name} cannot be read as {file.suffix[1:]}: {error}") from error
