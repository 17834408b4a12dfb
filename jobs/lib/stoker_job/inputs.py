"""The inputs of a program, checked against its program.json before anything heavy is imported."""

import difflib
import json
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .problems import Refused

_KINDS = {"integer": "a whole number", "number": "a number", "string": "a text", "boolean": "true or false", "any": "a value"}


class Inputs(Mapping[str, Any]):
    """Checked inputs by name; what was not given has its default."""

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def manifest_of(folder: Path) -> dict[str, Any]:
    """What the program says about itself: type, title, inputs, needs, sessions."""
    return json.loads((folder / "program.json").read_text("utf8"))


def check(given: Any, declared: dict[str, dict[str, Any]]) -> Inputs:
    """Refuses what is unknown, missing, of another type or outside its limits."""
    if not isinstance(given, dict):
        raise Refused(f"the input is {shown(given)}, it must be an object with the keys {', '.join(declared)}")
    for name in given:
        if name not in declared:
            raise Refused(f"the input {name} is unknown, this program takes {', '.join(declared)}{_nearest(name, list(declared))}")
    return Inputs({name: _value(name, given.get(name), rule) for name, rule in declared.items()})


def _value(name: str, value: Any, rule: dict[str, Any]) -> Any:
    if value is None:
        if rule.get("required"):
            raise Refused(f"the input {name} is missing: {rule['description']}")
        return rule.get("default")
    kind = rule["type"]
    if not _is(kind, value):
        raise Refused(f"{name} is {shown(value)}, it must be {_KINDS[kind]}{_limits(rule)}")
    if kind in ("integer", "number") and not rule.get("min", value) <= value <= rule.get("max", value):
        raise Refused(f"{name} is {shown(value)}, it must be {_KINDS[kind]}{_limits(rule)}")
    choices = rule.get("choices", [value])
    if value not in choices:
        raise Refused(f"{name} is {shown(value)}, it must be one of {', '.join(choices)}{_nearest(str(value), choices)}")
    if kind == "integer":
        return int(value)
    return float(value) if kind == "number" else value


def _is(kind: str, value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if kind == "integer":
        return is_number and value == int(value)
    if kind == "number":
        return is_number
    if kind == "string":
        return isinstance(value, str)
    return isinstance(value, bool) if kind == "boolean" else kind == "any"


def _limits(rule: dict[str, Any]) -> str:
    least, most = rule.get("min"), rule.get("max")
    if least is not None and most is not None:
        return f" from {least} to {most}"
    if least is not None:
        return f", at least {least}"
    return "" if most is None else f", at most {most}"


def _nearest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def shown(value: Any) -> str:
    """A value as a person would write it, cut where it is long."""
    if isinstance(value, str):
        return f'the text "{value[:80]}"'
    text = json.dumps(value, default=str)
    return text if len(text) <= 80 else text[:80] + "..."
