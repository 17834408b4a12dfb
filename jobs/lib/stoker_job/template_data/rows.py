"""Prompts from a dataset, with what its other columns say of them."""

from typing import Any

from ..dataset_open import open_dataset
from ..inputs import Inputs, shown
from ..problems import Failed, Refused

RULES: dict[str, dict[str, Any]] = {
    "url": {"type": "string", "default": None},
    "name": {"type": "string", "default": None},
    "split": {"type": "string", "default": "train"},
    "column": {"type": "string", "default": "text"},
    "shuffle": {"type": "boolean", "default": False},
    "seed": {"type": "integer", "default": 42, "min": 0},
    "buffer_size": {"type": "integer", "default": None, "min": 1},
    "revision": {"type": "string", "default": None},
    "trust_remote_code": {"type": "boolean", "default": False},
    "metadata_columns": {"type": "any", "default": None},
    "metadata_include_all": {"type": "boolean", "default": False},
    "sha256": {"type": "string", "default": None},
}


def rows_of(asked: Inputs) -> tuple[list[tuple[str, dict[str, Any]]], dict[str, Any]]:
    """Each prompt with its metadata, and what the result says of the dataset. `url` names it; without it `name` does."""
    if asked["trust_remote_code"]:
        raise Refused("data.trust_remote_code is true, and the package datasets no longer runs code of datasets: leave it out")
    if asked["buffer_size"] and not asked["shuffle"]:
        raise Refused(f"data.buffer_size is {asked['buffer_size']} and data.shuffle is false, it is the buffer of shuffling")
    named, config = (asked["url"], asked["name"]) if asked["url"] else (asked["name"], None)
    if not named:
        raise Refused("data.type is dataset, and neither data.url nor data.name says which")
    data = _shuffled(open_dataset("data.url" if asked["url"] else "data.name", named, config, asked), asked)
    known = list(data.column_names)
    for column in (asked["column"], *_renamed(asked, known)):
        if column not in known:
            raise Failed(f"dataset {named} has no column {column}, it has {', '.join(known)}")
    found = [_row(number, row, asked, known) for number, row in enumerate(data)]
    if not found:
        raise Failed(f"the split {asked['split']} of the dataset {named} is empty, at least one row is needed")
    return found, {"name": named, "config": config, "split": asked["split"], "column": asked["column"], "rows": len(found), "synthetic": False}


def _shuffled(data: Any, asked: Inputs) -> Any:
    if not asked["shuffle"]:
        return data
    if asked["buffer_size"]:
        names = data.column_names
        data = data.to_iterable_dataset().shuffle(seed=asked["seed"], buffer_size=asked["buffer_size"])
        return data if data.column_names else data.select_columns(names)
    return data.shuffle(seed=asked["seed"])


def _row(number: int, row: dict[str, Any], asked: Inputs, known: list[str]) -> tuple[str, dict[str, Any]]:
    text = row[asked["column"]]
    if not isinstance(text, str):
        raise Failed(f"row {number} of the dataset has {shown(text)} in the column {asked['column']}, a text is needed")
    return text, {name: row[column] for column, name in _renamed(asked, known).items()}


def _renamed(asked: Inputs, known: list[str]) -> dict[str, str]:
    """Column to its name in the metadata."""
    given = asked["metadata_columns"]
    listed = {one: one for one in given} if isinstance(given, list) else given or {}
    if not isinstance(listed, dict) or not all(isinstance(one, str) for pair in listed.items() for one in pair):
        raise Refused(f"data.metadata_columns is {shown(given)}, it must be a list of columns or a map from column to name")
    every = {one: one for one in known if one != asked["column"]} if asked["metadata_include_all"] else {}
    return {**every, **listed}
