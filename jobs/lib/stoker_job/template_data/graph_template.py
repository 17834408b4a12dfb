"""One prompt made of the results of earlier stages, which come with the task as `_upstreamResults`."""

import json
import re
from typing import Any

from ..inputs import Inputs, shown
from ..problems import Failed, Refused
from ..sections import section, sections

_ANY: dict[str, Any] = {"type": "any", "default": None}
_TEXT: dict[str, Any] = {"type": "string", "default": None}
_TEMPLATE = {
    "name": {"type": "string", "default": "two_column_briefing"},
    "columns": _ANY,
    "options": _ANY,
    "text": _TEXT,
    "append_system_prompt": {"type": "boolean", "default": False},
}
_COLUMN = {"label": _TEXT, "node": _TEXT, "path": _TEXT, "expr": _ANY, "default": _ANY}
_OPTIONS = {"role": _TEXT, "intro": _TEXT, "closing": _TEXT}
_BRIEFING = "two_column_briefing"
_STEP = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")
_PLACEHOLDER = re.compile(r"\{(col(\d+)_(label|value))\}")
_EXPRESSION = re.compile(r"(?:\$\{)?([\w:-]+)((?:\.|\[)[^\s{}]*)\}?")


def prompt_of(given: Any, upstream: Any) -> tuple[str, bool]:
    """The text, and whether the system prompt of the task goes before it."""
    asked = section("data.template", given, _TEMPLATE)
    columns = _columns(asked["columns"], {} if upstream is None else upstream)
    options = section("data.template.options", asked["options"], _OPTIONS)
    if asked["text"] is not None:
        return _filled(asked["text"], columns, options), asked["append_system_prompt"]
    if asked["name"] != _BRIEFING:
        raise Refused(f"data.template.name is {asked['name']}, only {_BRIEFING} is built in; any other needs data.template.text")
    if len(columns) < 2:
        raise Refused(f"{_BRIEFING} compares columns, data.template.columns has {len(columns)} and at least two are needed")
    parts = [options["role"], options["intro"], *(f"{label}:\n{value}" for label, value in columns), options["closing"]]
    return "\n\n".join(part for part in parts if part), asked["append_system_prompt"]


def _columns(given: Any, upstream: Any) -> list[tuple[str, str]]:
    if not isinstance(upstream, dict):
        raise Refused(f"_upstreamResults is {shown(upstream)}, it must be a map from stage to result")
    asked = [section(f"data.template.columns[{number}]", one, _COLUMN) for number, one in enumerate(sections("data.template.columns", given))]
    return [(one["label"] or f"Column {number + 1}", _value(f"data.template.columns[{number}]", one, upstream)) for number, one in enumerate(asked)]


def _value(path: str, column: Inputs, upstream: dict[str, Any]) -> str:
    if (column["node"] is None) == (column["expr"] is None):
        raise Refused(f"{path} needs either node and path, or expr")
    if column["node"] is not None:
        found = _dug(path, upstream, column["node"], column["path"] or "result", column["default"])
    else:
        found = _expressed(path, column, upstream)
    return found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)


def _expressed(path: str, column: Inputs, upstream: dict[str, Any]) -> Any:
    """`stage.path`, with or without `${}`; anything else is what the hub has already put in its place."""
    written = _EXPRESSION.fullmatch(column["expr"]) if isinstance(column["expr"], str) else None
    if written is None:
        return column["expr"]
    return _dug(path, upstream, written[1], written[2].lstrip("."), column["default"])


def _dug(path: str, upstream: dict[str, Any], node: str, steps: str, default: Any) -> Any:
    if node not in upstream and default is None:
        raise Failed(f"{path} wants the stage {node}, the finished stages are {', '.join(upstream) or 'none'}")
    found = upstream.get(node)
    for index, name in _STEP.findall(steps):
        key = int(index or name) if isinstance(found, list) and (index or name).isdigit() else name
        try:
            found = found[key] if isinstance(found, (list, dict)) else None
        except (KeyError, IndexError):
            found = None
    found = default if found is None else found
    if found is None:
        raise Failed(f"{path} wants {steps} of the stage {node}, which has no such value")
    return found


def _filled(text: str, columns: list[tuple[str, str]], options: Inputs) -> str:
    named = {**{f"col{number}_label": label for number, (label, _) in enumerate(columns)}, **{f"col{number}_value": value for number, (_, value) in enumerate(columns)}}
    strange = next((name for name, *_ in _PLACEHOLDER.findall(text) if name not in named), None)
    if strange is not None:
        raise Refused(f"data.template.text has {{{strange}}}, and there are {len(columns)} columns")
    filled = _PLACEHOLDER.sub(lambda found: named[found[1]], text)
    return "\n\n".join(part for part in (options["role"], options["intro"], filled, options["closing"]) if part)
