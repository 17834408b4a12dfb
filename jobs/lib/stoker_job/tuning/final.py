"""What a training leaves: the folder of the model, and the same as one archive beside it."""

import gzip
import os
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..artifacts import outputs, write_whole

#: Pickled settings, and a card with nothing in it.
_UNWANTED = ("training_args.bin", "README.md")


def part_of(name: str) -> Path:
    """Where the folder is written before it has its name; the same for all ranks."""
    return outputs() / f".{name}.part"


def leave(name: str, write: Callable[[Path], None]) -> None:
    """`outputs/NAME/` and `outputs/NAME.tar.gz`; nothing pickled is among them."""
    part, folder = part_of(name), outputs() / name
    shutil.rmtree(part, ignore_errors=True)
    write(part)
    for unwanted in _UNWANTED:
        (part / unwanted).unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(part, folder)
    write_whole(outputs() / f"{name}.tar.gz", lambda file: _pack(folder, name, file))


def places(name: str, is_saved: bool) -> dict[str, Any]:
    """Where they are, by the documented names; null when the job wanted none."""
    archive = f"{name}.tar.gz"
    return {
        f"{name}_path": f"outputs/{name}" if is_saved else None,
        f"{name}_archive": archive if is_saved else None,
        f"{name}_archive_path": f"outputs/{archive}" if is_saved else None,
        f"{name}_archive_url": archive if is_saved else None,
    }


def _pack(folder: Path, name: str, part: Path) -> None:
    """The same content gives the same bytes; weights hardly get smaller, so little time is spent on it."""
    with part.open("wb") as raw, gzip.GzipFile(fileobj=raw, mode="wb", mtime=0, filename="", compresslevel=1) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for file in sorted(one for one in folder.rglob("*") if one.is_file()):
            archive.add(file, f"{name}/{file.relative_to(folder).as_posix()}", filter=_plain)


def _plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    entry.uid = entry.gid = entry.mtime = 0
    entry.uname = entry.gname = ""
    entry.mode = 0o644
    return entry
