"""All that a job asks, checked before any model is loaded."""

import os
from dataclasses import dataclass
from typing import Any

from stoker_job.inputs import Inputs, shown
from stoker_job.problems import Failed, Refused
from stoker_job.sections import section, sections, stops, texts
from stoker_job.template_data import Prompt, prompts_of

_TEXT = {"type": "string", "default": None}
_ANY = {"type": "any", "default": None}
_FLAG = {"type": "boolean", "default": None}
_SEARCH = {"top_k": {"type": "integer", "default": 5, "min": 1, "max": 1000}}
_EMBEDDING = {
    "model": _TEXT,
    "model_sha256": _TEXT,
    "revision": _TEXT,
    "batch_size": {"type": "integer", "default": 32, "min": 1, "max": 65536},
    "max_length": {"type": "integer", "default": None, "min": 8, "max": 1_000_000},
    "query_prefix": {"type": "string", "default": ""},
    "document_prefix": {"type": "string", "default": ""},
}
_QDRANT = {
    "url": {**_TEXT, "required": True, "description": "http:// or https:// and the host"},
    "collection": {**_TEXT, "required": True, "description": "its name"},
    "api_key": _TEXT,
}
_SOURCE = {"type": _TEXT, "identifier": {**_TEXT, "required": True, "description": "a folder or the id on a model hub"}, "revision": _TEXT, "trust_remote_code": _FLAG, "sha256": _TEXT}
_MODEL = {"source": _ANY, "transformers": _ANY, "vllm": _ANY, "adapters": _ANY}
_TRANSFORMERS = {
    "device_map": {"type": "string", "default": "auto", "choices": ["auto", "balanced", "cuda", "cpu"]},
    "dtype": {"type": "string", "default": "auto", "choices": ["auto", "float32", "float16", "bfloat16"]},
    "trust_remote_code": _FLAG,
}
_INFERENCE = {
    "max_tokens": {"type": "integer", "default": 512, "min": 1, "max": 1_000_000},
    "max_new_tokens": {"type": "integer", "default": None, "min": 1, "max": 1_000_000},
    "temperature": {"type": "number", "default": 0.7, "min": 0, "max": 100},
    "top_p": {"type": "number", "default": 0.95, "min": 0, "max": 1},
    "top_k": {"type": "integer", "default": 50, "min": -1, "max": 1_000_000},
    "do_sample": _FLAG,
    "repetition_penalty": {"type": "number", "default": 1.0, "min": 0.01, "max": 100},
    "stop": _ANY,
    "system_prompt": _TEXT,
    "seed": {"type": "integer", "default": 0, "min": 0, "max": 2**63 - 1},
}
_SHARED = ("documents", "documents_sha256", "embedding", "search", "qdrant", "model", "inference", "enforce_cpu")


@dataclass(frozen=True)
class Asked:
    """The questions of the job itself, or of one of its children, with what is said to the model before them."""

    task_id: str | None
    questions: list[Prompt]
    system_prompt: str | None


@dataclass(frozen=True)
class Wishes:
    own: Asked
    children: list[Asked]
    refused: dict[str, str]
    embedding: Inputs
    top_k: int
    qdrant: Inputs | None
    model: Inputs | None
    inference: Inputs
    stops: list[str]


def wishes_of(inputs: Inputs) -> Wishes:
    """A child that is wrong is refused alone, with its reason."""
    inference = section("inference", inputs["inference"], _INFERENCE)
    model = _model(inputs["model"])
    if model is None and inputs["inference"] is not None:
        raise Refused("inference is given, and no model that would answer: name one, or leave inference out")
    if inputs["documents"] is None and inputs["qdrant"] is None:
        raise Refused("neither documents nor qdrant is given: there is nothing to search in")
    own = _asked(None, inputs["query"], inputs["data"], inputs["_upstreamResults"], inference["system_prompt"])
    children, refused = _children(inputs)
    return Wishes(
        own, children, refused,
        _embedding(inputs["embedding"]),
        section("search", inputs["search"], _SEARCH)["top_k"],
        None if inputs["qdrant"] is None else _qdrant(inputs["qdrant"]),
        model, inference, stops("inference.stop", inference["stop"]),
    )  # fmt: skip


def _asked(task_id: str | None, query: Any, data: Any, upstream: Any, system_prompt: str | None) -> Asked:
    if (query is None) == (data is None):
        raise Refused("neither query nor data is given, one of them is needed" if data is None else "query and data are both given, one of them asks")
    if data is None:
        questions = [Prompt(number, text, {}) for number, text in enumerate(texts("query", query))]
    else:
        questions, _ = prompts_of(data, upstream, system_prompt)
    if not questions or not all(one.text.strip() for one in questions):
        raise Refused(f"there are {len(questions)} questions{' and one of them is empty' if questions else ''}, at least one is needed and each must say something")
    return Asked(task_id, questions, system_prompt)


def _embedding(given: Any) -> Inputs:
    asked = section("embedding", {"model": given} if isinstance(given, str) else given, _EMBEDDING)
    if asked["model"] is None and asked["revision"] is not None:
        raise Refused(f"embedding.revision is {asked['revision']}, and embedding.model is not given: only models of a hub have one")
    return asked


def _qdrant(given: Any) -> Inputs:
    asked = section("qdrant", given, _QDRANT)
    key = asked["api_key"] or os.environ.get("QDRANT_API_KEY") or None
    if key is not None and not (key.isascii() and key.isprintable()):
        raise Refused("the key for qdrant has characters that a header cannot carry")
    return Inputs({"url": asked["url"], "collection": asked["collection"], "api_key": key})


def _model(given: Any) -> Inputs | None:
    """A name, or the form of templates; null where the passages are the answer."""
    if given is None:
        return None
    asked = section("model", {"source": {"identifier": given}} if isinstance(given, str) else given, _MODEL)
    for name in ("vllm", "adapters"):
        if asked[name]:
            raise Refused(f"model.{name} is given, and answers of rag are made by transformers with the model as it is: leave it out, or ask a job of type inference")
    source = section("model.source", asked["source"], _SOURCE)
    how = section("model.transformers", asked["transformers"], _TRANSFORMERS)
    for path, one in (("model.source", source), ("model.transformers", how)):
        if one["trust_remote_code"]:
            raise Refused(f"{path}.trust_remote_code is true, and code of models is not run")
    names = ("identifier", "revision", "sha256")
    return Inputs({**{name: source[name] for name in names}, "device_map": how["device_map"], "dtype": how["dtype"]})


def _children(inputs: Inputs) -> tuple[list[Asked], dict[str, str]]:
    children: list[Asked] = []
    refused: dict[str, str] = {}
    for number, child in enumerate(sections("merge_children", inputs["merge_children"])):
        named = child.get("task_id")
        if not isinstance(named, str) or not named or named in refused or any(one.task_id == named for one in children):
            raise Refused(f"merge_children[{number}].task_id is {shown(named)}, it must be an id of its own")
        try:
            children.append(_child(named, child.get("spec"), inputs))
        except (Refused, Failed) as error:
            refused[named] = str(error)
    return children, refused


def _child(task_id: str, spec: Any, inputs: Inputs) -> Asked:
    if not isinstance(spec, dict):
        raise Refused(f"spec is {shown(spec)}, it must be an object")
    for name in _SHARED:
        if _without_prompt(name, spec.get(name)) != _without_prompt(name, inputs[name]):
            raise Refused(f"{name} is {_told(spec.get(name))}, that of the task it was merged into is {_told(inputs[name])}: it must be run alone")
    prompt = (spec.get("inference") or {}).get("system_prompt")
    if prompt is not None and not isinstance(prompt, str):
        raise Refused(f"inference.system_prompt is {shown(prompt)}, it must be a text")
    return _asked(task_id, spec.get("query"), spec.get("data"), spec.get("_upstreamResults"), prompt)


def _told(value: Any) -> str:
    """Without the key of a server."""
    return shown({key: one for key, one in value.items() if key != "api_key"} if isinstance(value, dict) else value)


def _without_prompt(name: str, value: Any) -> Any:
    if name == "inference" and isinstance(value, dict):
        return {key: one for key, one in value.items() if key != "system_prompt"} or None
    return value or None
