"""Archives, unpacked without letting a name or a size lead outside."""

import os
import shutil
import tarfile
import zipfile
from pathlib import Path

from .artifacts import sha256_of
from .problems import Failed

_TAR = (".tar", ".tar.gz", ".tgz")
_MOST_BYTES = 50 * 1000**3
_MOST_ENTRIES = 1_000_000


def is_archive(file: Path) -> bool:
    return file.name.lower().endswith((*_TAR, ".zip"))


def unpack(name: str, file: Path) -> Path:
    """The folder of what is inside; where that is a single folder, that one. The same archive is unpacked once."""
    target = Path(".cache") / "unpacked" / sha256_of(file)[:32]
    if not target.is_dir():
        part = target.with_name(f"{target.name}.{os.getpid()}.part")
        part.mkdir(parents=True)
        try:
            (_unzip if zipfile.is_zipfile(file) else _untar)(name, file, part)
            _move(part, target)
        except (tarfile.TarError, zipfile.BadZipFile, EOFError) as error:
            raise Failed(f"{name}: {file.name} is no whole archive ({error})") from error
        finally:
            shutil.rmtree(part, ignore_errors=True)
    inside = [one for one in target.iterdir() if not one.name.startswith(".")]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else target


def _move(part: Path, target: Path) -> None:
    """Several ranks may unpack at once: the first one's folder stays."""
    try:
        part.rename(target)
    except OSError:
        if not target.is_dir():
            raise


def _untar(name: str, file: Path, into: Path) -> None:
    with tarfile.open(file) as archive:
        members = archive.getmembers()
        _check(name, file, len(members), sum(member.size for member in members))
        archive.extractall(into, members, filter="data")


def _unzip(name: str, file: Path, into: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        _check(name, file, len(members), sum(member.file_size for member in members))
        archive.extractall(into, members)


def _check(name: str, file: Path, entries: int, size: int) -> None:
    if entries > _MOST_ENTRIES or size > _MOST_BYTES:
        raise Failed(f"{name}: {file.name} has {entries} entries and {size} bytes, at most {_MOST_ENTRIES} and {_MOST_BYTES} are unpacked")
