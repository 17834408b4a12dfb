"""Finds out what a dataset is by looking at it."""

from pathlib import Path

from ..locate import locate
from ..problems import Failed
from . import digits, idx, texts
from .examples import Dataset


def open_dataset(value: str, sha256: str | None, seed: int) -> Dataset:
    """A folder, a file, an archive, a URL with its checksum, or the drawn digits if asked for by name."""
    if value == digits.NAME:
        return digits.synthetic_digits(seed)
    return read_dataset(value, locate("dataset", value, sha256), seed)


def read_dataset(name: str, path: Path, seed: int) -> Dataset:
    """IDX files, texts, npz, or a folder for each class."""
    if path.is_file() and path.suffix.lower() == ".npz":
        from .arrays import open_arrays

        return open_arrays(name, path, seed)
    if texts.is_texts(path):
        return texts.open_texts(name, path, seed)
    if path.is_dir():
        from . import pictures

        if idx.is_idx(path):
            return idx.open_idx(name, path, seed)
        if pictures.is_pictures(path):
            return pictures.open_pictures(name, path, seed)
    has = ", ".join(sorted(one.name for one in path.iterdir())[:8]) or "nothing" if path.is_dir() else f"a {path.suffix or 'nameless'} file"
    raise Failed(
        f"dataset {name} is {has}; known are IDX files, folders of images by class, npz, and train.jsonl or .csv with text and label"
    )
