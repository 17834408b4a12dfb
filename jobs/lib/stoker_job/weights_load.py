"""Tuned weights by path, task or URL: what `checkpoint.load` and an adapter of a template name."""

import os
import re
import tarfile
import zipfile
from pathlib import Path
from typing import Any

from .inputs import Inputs, shown
from .locate import found_at, roots
from .problems import Failed, Refused
from .sections import Rules, section
from .unpack import unpack

_ID = re.compile(r"[\w-][\w.-]*")
_LEFT = ("final_model", "final_lora", "final_model.tar.gz", "final_lora.tar.gz")
_TEXT = {"type": "string", "default": None}
PLACE_RULES: Rules = {
    "path": _TEXT,
    "url": _TEXT,
    "taskId": _TEXT,
    "headers": {"type": "any", "default": None},
    "archive_format": {"type": "string", "default": "auto", "choices": ["auto", "tar", "zip", "none"]},
    "sha256": _TEXT,
}
_LOAD = "checkpoint.load"
_LOAD_RULES: Rules = {
    "type": {"type": "string", "default": None, "choices": ["local", "http"]},
    **PLACE_RULES,
    "uri": _TEXT,
    "task_id": _TEXT,
    "filename": _TEXT,
    "base_url": _TEXT,
    "timeoutSec": {"type": "number", "default": 60, "min": 1, "max": 3600},
    "subdir": _TEXT,
}


def load_asked(checkpoint: Any) -> Inputs | None:
    """`checkpoint` of a template has one key, `load`; a text there is its path. No file is looked at yet."""
    if checkpoint is None:
        return None
    load = section("checkpoint", checkpoint, {"load": {"type": "any", "default": None}})["load"]
    load = {"path": load} if isinstance(load, str) else load
    if not isinstance(load, dict):
        raise Refused(f"{_LOAD} is {shown(load)}, it must be an object with path, taskId or url")
    asked = section(_LOAD, load, _LOAD_RULES)
    task = asked["taskId"] or asked["task_id"]
    _compare(asked, task)
    url = asked["url"] or _orchestrator_url(asked, task)
    if asked["type"] == "http" and not url:
        raise Refused(f"{_LOAD}.type is http and there is no {_LOAD}.url")
    return Inputs({**asked, "path": asked["path"] or _without_scheme(asked["uri"]), "taskId": task, "url": url})


def loaded_folder(asked: Inputs) -> Path:
    """The folder that `checkpoint.load` means: an existing path, then the task's, then the URL, then the orchestrator's."""
    return _entered(_LOAD, place_of(_LOAD, asked, asked["timeoutSec"]), asked["subdir"])


def place_of(path: str, asked: Inputs, timeout_seconds: float = 60) -> Path:
    """A folder with weights: from an existing path, a task's folder among the job's files, or a URL with its checksum."""
    if asked["path"] and (_exists(asked["path"]) or not (asked["taskId"] or asked["url"])):
        return _opened(path, asked, found_at(f"{path}.path", asked["path"], asked["sha256"]))
    if asked["taskId"] and (left := _left_by_task(path, asked["taskId"], asked.get("filename"))) is not None:
        return _opened(path, asked, found_at(f"{path}.taskId", str(left), asked["sha256"]))
    if not asked["url"]:
        missing = f"has no folder {'/'.join(filter(None, (asked['taskId'], asked.get('filename'))))} among the job's files: send it with the job" if asked["taskId"] else "needs path or url"
        raise Refused(f"{path} {missing}")
    if asked["sha256"] is None:
        raise Refused(f"{path}.url needs {path}.sha256 beside it: what is fetched must be what was meant")
    headers = _headers(path, asked["headers"])
    return _opened(path, asked, found_at(f"{path}.url", asked["url"], asked["sha256"], headers, timeout_seconds))


def _compare(asked: Inputs, task: str | None) -> None:
    if asked["path"] and asked["uri"]:
        raise Refused(f"{_LOAD} has path and uri, one of them names the place")
    if asked["task_id"] and asked["task_id"] != task:
        raise Refused(f"{_LOAD} has taskId {task} and task_id {asked['task_id']}, one of them names the task")
    if asked["filename"] is not None and task is None:
        raise Refused(f"{_LOAD}.filename is {shown(asked['filename'])} and there is no taskId that has it")
    if asked["filename"] is not None and not _ID.fullmatch(asked["filename"]):
        raise Refused(f"{_LOAD}.filename is {shown(asked['filename'])}, it must be the name of a file of the task {task}")
    if asked["type"] == "local" and asked["url"]:
        raise Refused(f"{_LOAD}.type is local and there is {_LOAD}.url")


def _exists(value: str) -> bool:
    return os.path.exists(value)


def _left_by_task(path: str, task: str, filename: str | None) -> Path | None:
    """The named file, a final model or adapter or the archive of one, or the task's folder itself; below the job's folder or one of DATA_PATH."""
    if not _ID.fullmatch(task):
        raise Refused(f"{path}.taskId is {shown(task)}, it must be an id")
    names = [f"{inner}{name}" for name in ([filename] if filename else _LEFT) for inner in ("", "outputs/")]
    found = [root / task / name for root in roots() for name in (names if filename else [*names, "."])]
    return next((one for one in found if one.exists()), None)


def _opened(path: str, asked: Inputs, found: Path) -> Path:
    """Archives are known by what they hold."""
    wanted = asked["archive_format"]
    if found.is_dir():
        return found
    is_tar, is_zip = tarfile.is_tarfile(found), zipfile.is_zipfile(found)
    if wanted == "none" or not (is_tar or is_zip):
        raise Failed(f"{path}: {found.name} is a file that is not unpacked, a folder with weights or an archive of one is needed")
    if (wanted == "tar" and not is_tar) or (wanted == "zip" and not is_zip):
        raise Failed(f"{path}: archive_format is {wanted}, {found.name} is a {'tar' if is_tar else 'zip'}")
    return unpack(path, found)


def _entered(path: str, folder: Path, subdir: str | None) -> Path:
    if subdir is None:
        return folder
    inner = (folder / subdir).resolve()
    if not inner.is_relative_to(folder.resolve()):
        raise Refused(f"{path}.subdir is {subdir}, which leads outside")
    if not inner.is_dir():
        raise Failed(f"{path}.subdir is {subdir}, the folder has {', '.join(sorted(one.name for one in folder.iterdir())[:10])}")
    return inner


def _orchestrator_url(asked: Inputs, task: str | None) -> str | None:
    base = asked["base_url"] or os.environ.get("ORCHESTRATOR_BASE_URL")
    if asked["base_url"] and not (task and asked["filename"]):
        raise Refused(f"{_LOAD}.base_url is {base}, with it task_id and filename say which file is meant")
    if not base or not task or not asked["filename"]:
        return None
    return f"{base.rstrip('/')}/api/v1/results/{task}/files/{asked['filename']}"


def _without_scheme(uri: str | None) -> str | None:
    if uri is not None and "://" in uri and not uri.startswith("file://"):
        raise Refused(f"{_LOAD}.uri is {uri}, only file:// and paths stand there; a URL stands in {_LOAD}.url")
    return uri.removeprefix("file://") if uri else None


def _headers(path: str, given: Any) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise Refused(f"{path}.headers is not a map of texts")
    return {str(name): value for name, value in given.items()}
