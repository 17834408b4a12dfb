"""Pictures of a prompt: each with its own seed, told step by step, left as PNG."""

import importlib.metadata
import os
import secrets
import time
from typing import Any

import emit
import torch
from done import Done, done_before
from pictures import free_names, tell, write_picture
from pipeline import dtype_of, open_pipeline
from render import Wish, render, wish_of
from stoker_job.artifacts import sha256_of
from stoker_job.inputs import Inputs
from stoker_job.problems import Refused
from stoker_job.ranks import Ranks, joined
from stoker_job.repeatable import be_repeatable

_SEEDS = 2**32
_IDENTITY = ("prompt", "negative_prompt", "num_images", "steps", "width", "height", "guidance", "seed", "dtype", "model", "model_sha256", "revision")
_loaded: dict[tuple[Any, ...], Any] = {}


def work(inputs: Inputs) -> dict[str, Any]:
    if int(os.environ.get("WORLD_SIZE") or 1) > 1:
        raise Refused(f"WORLD_SIZE is {os.environ['WORLD_SIZE']}, pictures are made by one process: leave ranks out and send several jobs")
    be_repeatable()
    with joined() as ranks:
        pipeline = _pipeline(inputs, ranks.device)
        wish = wish_of(inputs, pipeline)
        notes = _notes(inputs, pipeline)
        done = _done(inputs)
        try:
            _make_all(inputs, pipeline, wish, done)
        except emit.Stopped:
            done.save()
            raise
        done.forget()
        return _result(inputs, pipeline, wish, ranks, done, notes)


def _done(inputs: Inputs) -> Done:
    seed = secrets.randbelow(2**31) if inputs["seed"] is None else inputs["seed"]
    is_kept = inputs["num_images"] > 1 and not emit.is_session()
    return done_before({name: inputs[name] for name in _IDENTITY}, seed, is_kept)


def _make_all(inputs: Inputs, pipeline: Any, wish: Wish, done: Done) -> None:
    for facts in done.made:
        tell(facts)
    seeds = [(done.seed + number) % _SEEDS for number in range(inputs["num_images"])]
    for number in range(len(done.made), len(seeds)):
        done.add(_make(inputs, pipeline, wish, seeds, number))


def _pipeline(inputs: Inputs, device: torch.device) -> Any:
    """A session keeps it and loads another only when another is named."""
    key = tuple(inputs[name] for name in ("model", "model_sha256", "revision", "dtype"))
    if key not in _loaded:
        emit.worker("loading", f"loading {_model_name(inputs)}")
        _loaded.clear()
        _loaded[key] = open_pipeline(inputs, device)
        emit.progress(5, "the pipeline is loaded")
    return _loaded[key]


def _make(inputs: Inputs, pipeline: Any, wish: Wish, seeds: list[int], number: int) -> dict[str, Any]:
    start = time.monotonic()

    def told(step: int, steps: int) -> None:
        done = (number + step / (steps + 1)) / len(seeds)
        emit.progress(5 + 90 * done, f"image {number + 1}/{len(seeds)}, step {step}/{steps}")

    rendered = render(pipeline, wish, seeds[number], told)
    name = next(free_names())
    file = write_picture(name, rendered.picture, _about(inputs, pipeline, wish, seeds[number]))
    width, height = rendered.picture.size
    facts = {"name": name, "index": number, "seed": seeds[number], "width": width, "height": height, "flagged": rendered.is_flagged}
    facts |= {"sha256": sha256_of(file), "seconds": round(time.monotonic() - start, 3)}
    tell(facts)
    return facts


def _about(inputs: Inputs, pipeline: Any, wish: Wish, seed: int) -> dict[str, Any]:
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("diffusers", "transformers", "torch"))
    return {
        "prompt": inputs["prompt"],
        "negative_prompt": inputs["negative_prompt"],
        "seed": seed,
        "steps": wish.steps,
        "guidance": wish.guidance,
        "model": _model_name(inputs),
        "pipeline": type(pipeline).__name__,
        "scheduler": type(pipeline.scheduler).__name__,
        "software": versions,
    }


def _result(inputs: Inputs, pipeline: Any, wish: Wish, ranks: Ranks, done: Done, notes: list[str]) -> dict[str, Any]:
    checker = getattr(pipeline, "safety_checker", None)
    return {
        "images": [one["name"] for one in done.made],
        "prompt": inputs["prompt"],
        "negativePrompt": inputs["negative_prompt"],
        "numImages": len(done.made),
        "steps": wish.steps,
        "guidance": wish.guidance,
        "seed": done.seed,
        "pictures": done.made,
        "resumedFrom": done.resumed_from,
        "safetyChecker": None if checker is None else type(checker).__name__,
        "notes": notes,
        "dataset": None,
        "dtype": str(dtype_of(inputs["dtype"], ranks.device)).removeprefix("torch."),
        "model": {"name": _model_name(inputs), **_facts(pipeline)},
        **ranks.facts(),
        "engine": "diffusers",
    }


def _facts(pipeline: Any) -> dict[str, Any]:
    networks = [part for part in pipeline.components.values() if isinstance(part, torch.nn.Module)]
    parameters = sum(one.numel() for network in networks for one in network.parameters())
    return {"pipeline": type(pipeline).__name__, "scheduler": type(pipeline.scheduler).__name__, "parameters": parameters}


def _notes(inputs: Inputs, pipeline: Any) -> list[str]:
    """What a person would want to know before trusting the picture; said at once and again in the result."""
    notes = [note for name in ("prompt", "negative_prompt") if (note := _cut(name, inputs[name], pipeline))]
    if getattr(pipeline, "safety_checker", None) is None:
        notes.append("the model has no safety checker: nothing looked at what the pictures show")
    for note in notes:
        emit.log(note, "warning")
    return notes


def _cut(name: str, text: str | None, pipeline: Any) -> str | None:
    tokenizer = getattr(pipeline, "tokenizer", None)
    if text is None or tokenizer is None:
        return None
    count, most = len(tokenizer(text).input_ids), tokenizer.model_max_length
    return f"{name} has {count} tokens, the text encoder reads the first {most}" if count > most else None


def _model_name(inputs: Inputs) -> str:
    return inputs["model"] or os.environ.get("MODEL_NAME") or "the model of the job"
