"""The prompts of a template: `data` as a list, a dataset or a graph template, and the share of them that is this shard's."""

from dataclasses import dataclass
from typing import Any

import emit

from ..inputs import Inputs, shown
from ..problems import Refused
from ..sections import section
from .graph_template import prompt_of
from .rows import RULES as DATASET_RULES
from .rows import rows_of

_ANY: dict[str, Any] = {"type": "any", "default": None}
_TYPES = ["list", "dataset", "graph_template"]
_TYPE: dict[str, Any] = {"type": "string", "default": None, "choices": _TYPES}
_LIST = {"type": _TYPE, "items": _ANY, "metadata": _ANY}
_DATASET: dict[str, dict[str, Any]] = {"type": _TYPE, **DATASET_RULES}
_GRAPH = {"type": _TYPE, "template": _ANY}
_SHARD: dict[str, dict[str, Any]] = {
    "index": {"type": "integer", "default": None, "required": True, "min": 0, "description": "which part this is, from 0"},
    "total": {"type": "integer", "default": None, "required": True, "min": 1, "description": "how many parts there are"},
    "contiguous": {"type": "boolean", "default": True},
}


@dataclass(frozen=True)
class Prompt:
    """`index` is its place in all the data; `has_system` tells whether the system prompt belongs to it."""

    index: int
    text: str
    metadata: dict[str, Any]
    has_system: bool = True


def prompts_of(data: Any, upstream: Any, system_prompt: str | None) -> tuple[list[Prompt], dict[str, Any] | None]:
    """All of them, and what the result says of the dataset."""
    kind = _kind(data)
    if kind == "dataset":
        rows, facts = rows_of(section("data", data, _DATASET))
        return [Prompt(index, text, metadata) for index, (text, metadata) in enumerate(rows)], facts
    if kind == "graph_template":
        text, has_system = prompt_of(section("data", data, _GRAPH)["template"], upstream)
        if system_prompt and not has_system:
            emit.log("inference.system_prompt is left out: data.template.append_system_prompt is false", "warning")
        return [Prompt(0, text, {}, has_system)], None
    return _listed(section("data", {"items": data} if isinstance(data, (str, list)) else data, _LIST)), None


def own_share(prompts: list[Prompt], given: Any) -> tuple[list[Prompt], dict[str, Any] | None]:
    """One block of neighbours, or every n-th; all shards together are all prompts, each once."""
    if given is None:
        return prompts, None
    asked = section("shard", given, _SHARD)
    index, total = asked["index"], asked["total"]
    if index >= total:
        raise Refused(f"shard.index is {index} and shard.total is {total}, indexes go from 0 to {total - 1}")
    count = len(prompts)
    own = prompts[count * index // total : count * (index + 1) // total] if asked["contiguous"] else prompts[index::total]
    return own, {"index": index, "total": total, "contiguous": asked["contiguous"], "items": len(own), "of": count}


def _kind(data: Any) -> str:
    """As it is said, else by what is there."""
    if isinstance(data, (str, list)):
        return "list"
    if not isinstance(data, dict):
        raise Refused(f"data is {shown(data)}, it must be a text, a list of texts or an object with type {', '.join(_TYPES)}")
    if data.get("type") is not None:
        return section("data", {"type": data["type"]}, {"type": _TYPE})["type"]
    return "dataset" if "url" in data or "name" in data else "graph_template" if "template" in data else "list"


def _listed(asked: Inputs) -> list[Prompt]:
    items = [asked["items"]] if isinstance(asked["items"], str) else asked["items"]
    if not isinstance(items, list) or not items:
        raise Refused(f"data.items is {shown(items)}, it must be a list with at least one text")
    metadata = [{} for _ in items] if asked["metadata"] is None else asked["metadata"]
    if not isinstance(metadata, list) or len(metadata) != len(items):
        count = len(metadata) if isinstance(metadata, list) else shown(metadata)
        raise Refused(f"data.items has {len(items)} entries and data.metadata has {count}, there must be one for each")
    for number, (item, about) in enumerate(zip(items, metadata)):
        if not isinstance(item, str):
            raise Refused(f"data.items[{number}] is {shown(item)}, it must be a text")
        if about is not None and not isinstance(about, dict):
            raise Refused(f"data.metadata[{number}] is {shown(about)}, it must be an object")
    return [Prompt(index, item, about or {}) for index, (item, about) in enumerate(zip(items, metadata))]
