"""One picture: from its seed through all steps, which can be told and between which it can be stopped."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import torch
from PIL import Image
from stoker_job import stop
from stoker_job.inputs import Inputs
from stoker_job.problems import Failed, Refused, first_line, is_out_of_memory


@dataclass(frozen=True)
class Wish:
    """What the pipeline is asked; each picture differs only by its seed."""

    steps: int
    arguments: dict[str, Any]
    guidance: float | None


@dataclass(frozen=True)
class Rendered:
    picture: Image.Image
    is_flagged: bool


def wish_of(inputs: Inputs, pipeline: Any) -> Wish:
    """Refuses what this pipeline does not know or cannot do, before the first step."""
    takes = inspect.signature(pipeline.__call__).parameters
    named = {"negative_prompt": "negative_prompt", "width": "width", "height": "height", "guidance": "guidance_scale"}
    for name, argument in named.items():
        if inputs[name] is not None and argument not in takes:
            raise Refused(f"{name} is given, and a {type(pipeline).__name__} takes none")
    given = {argument: inputs[name] for name, argument in named.items() if inputs[name] is not None}
    _check_size(given, getattr(pipeline, "vae_scale_factor", 8))
    _check_steps(inputs["steps"], pipeline)
    own = takes["guidance_scale"].default if "guidance_scale" in takes else None
    return Wish(inputs["steps"], {"prompt": inputs["prompt"], **given}, given.get("guidance_scale", own))


def render(pipeline: Any, wish: Wish, seed: int, tell: Callable[[int, int], None]) -> Rendered:
    """The noise is drawn on the processor, so that a seed means the same on every device. A request to stop waits for the step."""

    def after_step(_pipeline: Any, step: int, _timestep: Any, values: dict[str, Any]) -> dict[str, Any]:
        if stop.is_asked():
            stop.leave()
        tell(step + 1, pipeline.num_timesteps)
        return values

    noise = torch.Generator("cpu").manual_seed(seed)
    with stop.deferred(), torch.inference_mode():
        made = _ran(pipeline, **wish.arguments, num_inference_steps=wish.steps, generator=noise, output_type="np", callback_on_step_end=after_step)
    if stop.is_asked():
        stop.leave()
    flagged = getattr(made, "nsfw_content_detected", None)
    return Rendered(_picture(made.images[0], seed), bool(flagged and flagged[0]))


def _ran(pipeline: Any, **arguments: Any) -> Any:
    try:
        return pipeline(**arguments)
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise Failed(f"out of memory ({first_line(error)}): lower width and height, try dtype float16, or give the job more memory") from error


def _picture(values: Any, seed: int) -> Image.Image:
    pixels = numpy.asarray(values, dtype=numpy.float32)
    if not numpy.isfinite(pixels).all():
        raise Failed(f"the picture with seed {seed} has NaN in it: the weights are broken, or too fine for their numbers; try dtype float32")
    return Image.fromarray((pixels * 255).round().clip(0, 255).astype(numpy.uint8))


def _check_size(given: dict[str, Any], multiple: int) -> None:
    for side in ("width", "height"):
        if given.get(side, 0) % multiple:
            raise Refused(f"{side} is {given[side]}, this pipeline takes multiples of {multiple}")


def _check_steps(steps: int, pipeline: Any) -> None:
    most = getattr(pipeline.scheduler.config, "num_train_timesteps", steps)
    if steps > most:
        raise Refused(f"steps is {steps}, the {type(pipeline.scheduler).__name__} of this model has {most}")
