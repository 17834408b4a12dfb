"""The IDX format of MNIST and its relatives, gzipped or not: four header bytes, the sizes, then the bytes."""

import gzip
import math
import struct
from pathlib import Path

import torch

from ..problems import Failed
from .examples import Dataset, Examples, dataset_of

_UNSIGNED_BYTES = 0x08
TRAIN = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
HELD_OUT = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")


def is_idx(folder: Path) -> bool:
    return file_in(folder, TRAIN[0]) is not None


def open_idx(name: str, folder: Path, seed: int) -> Dataset:
    """The four files of a folder; without the last two a part of the first is held out."""
    train = _pair(folder, TRAIN)
    held_out = _pair(folder, HELD_OUT) if file_in(folder, HELD_OUT[0]) is not None else None
    highest = max(int(part.labels.max()) if len(part) else 0 for part in (train, held_out or train))
    classes = [str(number) for number in range(highest + 1)]
    return dataset_of(name, "image", classes, train, held_out, seed)


def file_in(folder: Path, name: str) -> Path | None:
    """By its custom name, with `.` for `-` as some copies have it, plain or gzipped."""
    names = [name, f"{name}.gz", name.replace("-idx", ".idx"), name.replace("-idx", ".idx") + ".gz"]
    return next((folder / one for one in names if (folder / one).is_file()), None)


def read_idx(file: Path) -> torch.Tensor:
    """Bytes in the shape the header says; a file that is shorter or longer is refused."""
    try:
        with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as stream:
            content = stream.read()
    except (OSError, EOFError) as error:
        raise Failed(f"{file.name} cannot be read: {error}") from error
    if len(content) < 4 or content[:2] != b"\0\0" or content[2] != _UNSIGNED_BYTES or not 1 <= content[3] <= 4:
        raise Failed(f"{file.name} begins with {content[:4].hex()}, an IDX file of bytes begins with 0000080N")
    start = 4 + 4 * content[3]
    shape = struct.unpack(f">{content[3]}I", content[4:start]) if len(content) >= start else ()
    if not shape or len(content) - start != math.prod(shape):
        raise Failed(f"{file.name} says its shape is {list(shape)}, but it has {max(0, len(content) - start)} bytes of data")
    if math.prod(shape) == 0:
        return torch.zeros(shape, dtype=torch.uint8)
    return torch.frombuffer(bytearray(content[start:]), dtype=torch.uint8).reshape(shape)


def _pair(folder: Path, names: tuple[str, str]) -> Examples:
    files = [file_in(folder, name) for name in names]
    if files[0] is None or files[1] is None:
        raise Failed(f"{folder.name} has {names[0]} but no {names[1]}")
    images, labels = read_idx(files[0]), read_idx(files[1])
    if images.dim() != 3 or labels.dim() != 1:
        raise Failed(f"images have the shape {list(images.shape)} and labels {list(labels.shape)}, [n, height, width] and [n] are needed")
    return Examples(images.unsqueeze(1), labels.to(torch.int64))
