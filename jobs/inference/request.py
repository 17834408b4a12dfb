"""A request of the OpenAI endpoint: what of it is honoured, what changes nothing here, and what is refused."""

from typing import Any

from sampling import Sampling, sampling_of
from stoker_job.inputs import Inputs, check, shown
from stoker_job.problems import Refused

_ANY: dict[str, Any] = {"type": "any", "default": None}
_WRITING: dict[str, dict[str, Any]] = {
    "max_tokens": {"type": "integer", "default": None, "min": 1},
    "max_completion_tokens": {"type": "integer", "default": None, "min": 1},
    "temperature": {"type": "number", "default": 1.0, "min": 0},
    "top_p": {"type": "number", "default": 1.0, "min": 0, "max": 1},
    "top_k": {"type": "integer", "default": 0, "min": -1},
    "stop": _ANY,
    "seed": {"type": "integer", "default": None},
    "repetition_penalty": {"type": "number", "default": None, "min": 0.01},
    "presence_penalty": {"type": "number", "default": 0, "min": -2, "max": 2},
    "frequency_penalty": {"type": "number", "default": 0, "min": -2, "max": 2},
    "logit_bias": _ANY,
}
_KINDS: dict[str, dict[str, dict[str, Any]]] = {
    "chat": {**_WRITING, "messages": _ANY, "system_prompt": {"type": "string", "default": None}},
    "completion": {**_WRITING, "prompt": _ANY},
    "embedding": {"input": _ANY, "dimensions": {"type": "integer", "default": None, "min": 1}},
}
_DONE_BY_THE_HUB = ("kind", "model", "n", "stream", "stream_options", "user", "encoding_format", "store", "metadata", "service_tier")
_AS_ALWAYS = {"response_format": {"type": "text"}, "tool_choice": "none", "tools": [], "logprobs": False, "echo": False, "best_of": 1, "suffix": "", "parallel_tool_calls": True}


def asked_of(kind: str, task: dict[str, Any]) -> Inputs:
    """Checked. What would change the answer and cannot be done is refused, not passed over."""
    own = {name: value for name, value in task.items() if name not in _DONE_BY_THE_HUB}
    for name, usual in _AS_ALWAYS.items():
        given = own.pop(name, None)
        if given is not None and given != usual:
            raise Refused(f"{name} is {shown(given)}, which this program cannot do: leave it out")
    return check(own, _KINDS[kind])


def sampling_asked(asked: Inputs, tokenizer: Any) -> Sampling:
    names = ("temperature", "top_p", "top_k", "stop", "repetition_penalty", "presence_penalty", "frequency_penalty")
    most = asked["max_completion_tokens"] or asked["max_tokens"]
    seed = None if asked["seed"] is None else asked["seed"] % 2**31
    given = {name: asked[name] for name in names} | {"max_tokens": most, "max_new_tokens": None, "do_sample": None, "seed": seed}
    return sampling_of(Inputs(given), "", _bias(asked["logit_bias"], len(tokenizer)))


def _bias(given: Any, size: int) -> dict[int, float]:
    """By token; the endpoint has made sure that it is a map to numbers."""
    try:
        bias = {int(token): float(value) for token, value in (given or {}).items()}
    except (ValueError, TypeError, AttributeError):
        raise Refused(f"logit_bias is {shown(given)}, it must be a map from tokens to numbers") from None
    strange = next((token for token in bias if not 0 <= token < size), None)
    if strange is not None:
        raise Refused(f"logit_bias has the token {strange}, the model has {size}")
    return bias
