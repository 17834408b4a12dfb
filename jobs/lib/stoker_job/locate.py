"""Where a dataset or model really is: a folder, a file, an archive beside the program, or a URL with its checksum."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from .artifacts import sha256_of
from .fetch import fetch
from .problems import Failed, Refused
from .unpack import is_archive, unpack

_SHA256 = re.compile(r"[0-9a-f]{64}")


def locate(name: str, value: str, sha256: str | None) -> Path:
    """The file or folder an input names; archives are unpacked, URLs fetched and checked. `name` is for the sentences."""
    found = found_at(name, value, sha256)
    return unpack(name, found) if found.is_file() and is_archive(found) else found


def found_at(name: str, value: str, sha256: str | None, headers: Mapping[str, str] | None = None, timeout_seconds: float = 30) -> Path:
    """As `locate` finds it, archives as they are."""
    if sha256 is not None and not _SHA256.fullmatch(sha256):
        raise Refused(f"{_key(name)} has {len(sha256)} characters, a SHA-256 is 64 digits and letters from a to f")
    is_url = re.match(r"[a-z][a-z0-9+.-]*://", value, re.IGNORECASE)
    found = _fetched(name, value, sha256, headers or {}, timeout_seconds) if is_url else _local(name, value)
    if sha256 is not None and found.is_file() and (really := sha256_of(found)) != sha256:
        raise Failed(f"{name} {value} has the SHA-256 {really}, the job says {sha256}")
    return found


def cache() -> Path:
    """Fetched and unpacked files: DATA_CACHE where the machine's owner gives one, else the job's own folder."""
    given = os.environ.get("DATA_CACHE")
    return Path(given) if given else Path(".cache")


def roots() -> list[Path]:
    """All that an input may name files of."""
    return [Path.cwd(), *_listed("MODEL_PATH"), *_listed("DATA_PATH")]


def _key(name: str) -> str:
    """The input that has the checksum: below a section it stands beside the path, else it is named after it."""
    section, _, own = name.rpartition(".")
    return f"{section}.sha256" if section else f"{own}_sha256"


def _fetched(name: str, url: str, sha256: str | None, headers: Mapping[str, str], timeout_seconds: float) -> Path:
    if sha256 is None:
        raise Refused(f"{name} is a URL, so {_key(name)} is needed: what is fetched must be what was meant")
    target = cache() / sha256 / (re.sub(r"[^\w.-]", "_", url.split("?")[0].rsplit("/", 1)[-1]) or "file")
    if not target.is_file():
        fetch(name, url, target, sha256, headers=headers, timeout_seconds=timeout_seconds)
    return target


def _local(name: str, value: str) -> Path:
    """Only what the job brought, its model, and what its owner lists in DATA_PATH: an input is no way to the machine's files."""
    path = Path(value).resolve()
    if not any(path.is_relative_to(root.resolve()) for root in roots()):
        raise Refused(f"{name} is {value}, which lies outside the job's folder, MODEL_PATH and the folders in DATA_PATH")
    if not path.exists():
        here = ", ".join(sorted(one.name for one in Path.cwd().iterdir() if not one.name.startswith("."))[:10]) or "nothing"
        raise Failed(f"{name} {value} does not exist; the job's folder has {here}")
    return path


def _listed(variable: str) -> list[Path]:
    return [Path(one) for one in os.environ.get(variable, "").split(os.pathsep) if one]
