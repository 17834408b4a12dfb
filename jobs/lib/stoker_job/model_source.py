"""Where a model of transformers comes from: a folder of the job, an archive, a URL, or the model hub."""

import hashlib
import os
import re
import socket
import urllib.parse
from dataclasses import dataclass
from pathlib import Path

from .artifacts import sha256_of
from .locate import locate
from .problems import Failed, Refused, first_line
from .unpack import is_archive

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_WEIGHTS = ("*.safetensors",)
_REACH_SECONDS = 5


@dataclass(frozen=True)
class Source:
    """`name` is what was asked for and what a result says; `place` is what transformers is given."""

    name: str
    place: str
    revision: str | None = None
    trusts_code: bool = False
    is_local: bool = True


def source_of(path: str, value: str | None, sha256: str | None = None, revision: str | None = None, trusts_code: bool = False) -> Source:
    """Nothing is guessed: without a name, or with its name, it is the job's model at MODEL_PATH. `path` is for the sentences."""
    folder = given_folder()
    is_given = folder is not None and sha256 is None and revision is None and value == os.environ.get("MODEL_NAME")
    if value is None or is_given:
        if folder is None:
            raise Refused(f"{path} is missing and MODEL_PATH has no model: name a folder or an id of the model hub, or give the job a model")
        check_readable(path, folder)
        return Source(os.environ.get("MODEL_NAME") or folder.name, str(folder), None, trusts_code)
    if is_hub_id(value):
        if sha256 is not None:
            raise Refused(f"{path} {value} is an id of the model hub and has a SHA-256, which belongs to a file: there revision says which one is meant")
        return Source(value, value, revision, trusts_code, is_local=not reach_hub(path, value, revision))
    if revision is not None:
        raise Refused(f"{path} {value} is no id of the model hub and has the revision {revision}, which only the hub has")
    found = locate(path, value, sha256)
    if not found.is_dir():
        raise Failed(f"{path} {value} is a file, a folder with config.json and weights is needed, or an archive of one")
    check_readable(path, found)
    return Source(value, str(found), None, trusts_code)


def check_readable(path: str, folder: Path) -> None:
    """Some libraries write files for their owner alone and then say of others' that they are not there."""
    closed = next((file for file in sorted(folder.iterdir()) if file.is_file() and not os.access(file, os.R_OK)), None)
    if closed is not None:
        raise Failed(f"{path}: {folder.name}/{closed.name} is there and may not be read by the user this program runs as: let others read it (chmod a+r)")


def is_hub_id(value: str, *suffixes: str) -> bool:
    """Written as one, and neither there nor named as a file would be."""
    return _HUB_ID.fullmatch(value) is not None and not Path(value).exists() and not is_archive(Path(value)) and not value.endswith(suffixes)


def given_folder() -> Path | None:
    """The job's own model, if it has one."""
    folder = Path(os.environ.get("MODEL_PATH") or "/nonexistent")
    return folder if folder.is_dir() and any(folder.iterdir()) else None


def weights_sha256(folder: Path) -> str:
    """Of one file its own SHA-256; of several that of the lines `sha256sum` prints for them, in order of their names."""
    files = sorted(file for pattern in _WEIGHTS for file in folder.glob(pattern))
    if not files:
        raise Failed(f"{folder.name} has no .safetensors weights; it has {listing(folder)}")
    if len(files) == 1:
        return sha256_of(files[0])
    lines = "".join(f"{sha256_of(file)}  {file.name}\n" for file in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def listing(folder: Path) -> str:
    return ", ".join(sorted(one.name for one in folder.iterdir() if not one.name.startswith("."))[:10]) or "nothing"


def reach_hub(path: str, value: str, revision: str | None = None, kind: str = "model") -> bool:
    """Whether the hub is there. The library would try for half a minute; one look is enough to tell, or to use what it keeps."""
    if os.environ.get("HF_HUB_OFFLINE") == "1" or any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY")):
        return True
    from huggingface_hub import constants, try_to_load_from_cache

    parts = urllib.parse.urlsplit(constants.ENDPOINT)
    try:
        socket.create_connection((parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)), _REACH_SECONDS).close()
    except OSError as error:
        if kind == "model" and isinstance(try_to_load_from_cache(value, "config.json", revision=revision), str):
            return False
        raise Failed(
            f"{path} {value} is not in the job's folder, which has {listing(Path.cwd())}, and the model hub {parts.hostname} cannot be reached "
            f"({first_line(error)}): give the job network: internet, or send it with the job and name the path"
        ) from error
    return True
