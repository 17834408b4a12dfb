"""Loads exactly the pipeline that was named: its folder only, no code of it, no pickled weights."""

import inspect
import json
import os
from pathlib import Path
from typing import Any

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # it speaks of packages nobody needs while it is imported

import diffusers
import torch
import transformers
from stoker_job.inputs import Inputs, shown
from stoker_job.model_source import Source, check_readable, listing, source_of
from stoker_job.problems import Failed, Refused, first_line, is_out_of_memory

_INDEX = "model_index.json"
_LIBRARIES = ("diffusers", "transformers")


def open_pipeline(inputs: Inputs, device: torch.device) -> Any:
    """A diffusers pipeline that makes a picture of a prompt, on its device."""
    if inputs["model"] is None and inputs["revision"] is not None:
        raise Refused(f"revision is {inputs['revision']}, and no model is named: only models of a hub have one")
    folder = _folder(source_of("model", inputs["model"], inputs["model_sha256"], inputs["revision"]))
    _check_index(folder)
    for part in filter(Path.is_dir, folder.iterdir()):
        check_readable("model", part)
    diffusers.utils.logging.set_verbosity_error()
    diffusers.utils.logging.disable_progress_bar()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    dtype = dtype_of(inputs["dtype"], device)
    try:
        pipeline = diffusers.DiffusionPipeline.from_pretrained(folder, local_files_only=True, use_safetensors=True, dtype=dtype)
    except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
        if is_out_of_memory(error):
            raise
        raise Failed(f"model {folder.name} cannot be loaded: {first_line(error)}") from error
    _check_call(folder, pipeline)
    pipeline.set_progress_bar_config(disable=True)
    return pipeline.to(device)


def dtype_of(name: str, device: torch.device) -> torch.dtype:
    if name == "auto":
        return torch.float16 if device.type == "cuda" else torch.float32
    return getattr(torch, name)


def _folder(source: Source) -> Path:
    """Of a pipeline on the model hub only the files it needs are fetched, and nothing that is code."""
    if Path(source.place).is_dir():
        return Path(source.place)
    try:
        return Path(diffusers.DiffusionPipeline.download(source.place, revision=source.revision, use_safetensors=True))
    except (OSError, ValueError) as error:
        raise Failed(f"model {source.name} is no folder of the job, and the model hub does not give it: {first_line(error)}") from error


def _check_index(folder: Path) -> None:
    """Every part must be a class of the installed libraries: a folder cannot bring code with it."""
    try:
        index = json.loads((folder / _INDEX).read_text("utf8"))
    except FileNotFoundError:
        raise Failed(f"model {folder.name} has {listing(folder)}, it needs {_INDEX} and the weights of a diffusers pipeline") from None
    except ValueError as error:
        raise Failed(f"{_INDEX} of model {folder.name} is no JSON: {error}") from error
    kind = index.get("_class_name") if isinstance(index, dict) else None
    if not isinstance(kind, str) or not hasattr(diffusers, kind):
        raise Failed(f"model {folder.name} is a {shown(kind)}, diffusers {diffusers.__version__} has no such pipeline")
    parts = [value for value in index.values() if isinstance(value, list)]
    foreign = [value for value in parts if value[0] is not None and value[0] not in _LIBRARIES and not hasattr(diffusers.pipelines, str(value[0]))]
    if foreign:
        raise Failed(f"model {folder.name} has a part {shown(foreign[0])}, parts of {' and '.join(_LIBRARIES)} are taken: code of models is not run")


def _check_call(folder: Path, pipeline: Any) -> None:
    takes = inspect.signature(pipeline.__call__).parameters
    if "image" in takes or not {"prompt", "num_inference_steps", "callback_on_step_end", "output_type"} <= set(takes):
        raise Failed(f"model {folder.name} is a {type(pipeline).__name__}, this program takes pipelines that make a picture of a prompt alone")
