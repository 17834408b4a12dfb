"""How the next token is chosen and when an answer ends."""

import random
from dataclasses import asdict, dataclass, field
from typing import Any

from stoker_job.inputs import Inputs
from stoker_job.problems import Refused
from stoker_job.sections import section, stops

_RULES: dict[str, dict[str, Any]] = {
    "max_tokens": {"type": "integer", "default": None, "min": 1},
    "max_new_tokens": {"type": "integer", "default": None, "min": 1},
    "temperature": {"type": "number", "default": 0.7, "min": 0},
    "top_p": {"type": "number", "default": 0.95, "min": 0, "max": 1},
    "top_k": {"type": "integer", "default": 50, "min": -1},
    "stop": {"type": "any", "default": None},
    "do_sample": {"type": "boolean", "default": None},
    "repetition_penalty": {"type": "number", "default": None, "min": 0.01},
    "presence_penalty": {"type": "number", "default": 0, "min": -2, "max": 2},
    "frequency_penalty": {"type": "number", "default": 0, "min": -2, "max": 2},
    "seed": {"type": "integer", "default": None, "min": 0},
    "system_prompt": {"type": "string", "default": None},
    "chat_template": {"type": "any", "default": False},
    "batch_size": {"type": "integer", "default": 8, "min": 1, "max": 1024},
}
MOST_TOKENS = 512


@dataclass(frozen=True)
class Sampling:
    """Checked; `top_k` 0 means all tokens, `repetition_penalty` None what the model itself says."""

    max_tokens: int
    do_sample: bool
    temperature: float
    top_p: float
    top_k: int
    seed: int
    stop: tuple[str, ...] = ()
    repetition_penalty: float | None = None
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: dict[int, float] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """For the result: with these, and the seed that was drawn if none was given, a run can be repeated."""
        of_chance = () if self.do_sample else ("temperature", "top_p", "top_k", "seed")
        return {name: value for name, value in asdict(self).items() if value not in (None, (), {}) and name not in of_chance}


def inference_section(given: Any) -> Inputs:
    """`inference` of a template."""
    return section("inference", given, _RULES)


def sampling_of(asked: Inputs, path: str, bias: dict[int, float] | None = None) -> Sampling:
    """Greedy where the temperature is 0, unless it is said in words."""
    do_sample = asked["temperature"] > 0 if asked["do_sample"] is None else asked["do_sample"]
    if do_sample and asked["temperature"] == 0:
        raise Refused(f"{path}do_sample is true and {path}temperature is 0: sampling needs a temperature above 0")
    return Sampling(
        max_tokens=asked["max_new_tokens"] or asked["max_tokens"] or MOST_TOKENS,
        do_sample=do_sample,
        temperature=asked["temperature"],
        top_p=asked["top_p"],
        top_k=max(0, asked["top_k"]),
        seed=random.SystemRandom().randrange(2**31) if asked["seed"] is None else asked["seed"],
        stop=tuple(stops(f"{path}stop", asked["stop"])),
        repetition_penalty=asked["repetition_penalty"],
        presence_penalty=asked["presence_penalty"],
        frequency_penalty=asked["frequency_penalty"],
        logit_bias=bias or {},
    )
