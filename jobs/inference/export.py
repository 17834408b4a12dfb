"""`postprocess.jsonl_export`: the answers as JSON lines with chosen fields, below `outputs/`."""

import json
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from stoker_job.artifacts import write_whole
from stoker_job.inputs import shown
from stoker_job.problems import Failed, Refused
from stoker_job.sections import section, texts

_ANY: dict[str, Any] = {"type": "any", "default": None}
_EXPORT: dict[str, dict[str, Any]] = {
    "path": {"type": "string", "default": "export.jsonl"},
    "required_fields": _ANY,
    "fields": _ANY,
}
_FIELD: dict[str, dict[str, Any]] = {
    "from": {"type": "string", "default": "literal", "choices": ["metadata", "output", "prompt", "item", "literal"]},
    "key": {"type": "string", "default": None},
    "value": _ANY,
    "fallback": _ANY,
    "default": _ANY,
}


@dataclass(frozen=True)
class Export:
    """Where to write which fields; `required` ones must have a value in every record."""

    path: PurePosixPath
    fields: dict[str, Any]
    required: list[str]

    def check(self, items: list[dict[str, Any]]) -> None:
        """Before any answer is made: what a record lacks is known from its prompt and metadata."""
        for item in items:
            record = self._record({**item, "output": ""})
            missing = next((name for name in self.required if record[name] is None), None)
            if missing is not None:
                raise Failed(f"item {item['index']} has no value for the required field {missing} of postprocess.jsonl_export")

    def write(self, items: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
        lines = "".join(json.dumps(self._record(item), ensure_ascii=False, default=str) + "\n" for item in items)
        file = folder / self.path
        write_whole(file, lambda part: _write(part, lines))
        return {"path": str(file), "relative_path": str(self.path), "record_count": len(items), "fields": list(self.fields)}

    def _record(self, item: dict[str, Any]) -> dict[str, Any]:
        return {name: _value(rule, item) for name, rule in self.fields.items()}


def export_of(postprocess: Any) -> Export | None:
    """None where nothing is to be exported."""
    given = section("postprocess", postprocess, {"jsonl_export": _ANY})["jsonl_export"]
    if given is None:
        return None
    asked = section("postprocess.jsonl_export", given, _EXPORT)
    path = PurePosixPath(asked["path"])
    if path.is_absolute() or ".." in path.parts or path.name.startswith(".") or not path.name:
        raise Refused(f"postprocess.jsonl_export.path is {asked['path']}, it must be the name of a file below outputs/")
    fields = asked["fields"]
    if not isinstance(fields, dict) or not fields:
        raise Refused(f"postprocess.jsonl_export.fields is {shown(fields)}, it must say at least one field")
    required = texts("postprocess.jsonl_export.required_fields", asked["required_fields"])
    for name in required:
        if name not in fields:
            raise Refused(f"postprocess.jsonl_export.required_fields has {name}, the fields are {', '.join(fields)}")
    return Export(path, {str(name): _rule(f"postprocess.jsonl_export.fields.{name}", one) for name, one in fields.items()}, required)


def _rule(path: str, given: Any) -> dict[str, Any]:
    """The short forms: prompt, output, metadata.k, item.k, or the value itself."""
    if isinstance(given, dict):
        asked = section(path, given, _FIELD)
        if asked["from"] in ("metadata", "item") and asked["key"] is None:
            raise Refused(f"{path} is from {asked['from']} and has no key")
        fallback = None if asked["fallback"] is None else _rule(f"{path}.fallback", asked["fallback"])
        return {**{name: asked[name] for name in _FIELD}, "fallback": fallback}
    if given in ("prompt", "output"):
        return {"from": given}
    source, dot, key = given.partition(".") if isinstance(given, str) else ("", "", "")
    if dot and key and source in ("metadata", "item"):
        return {"from": source, "key": key}
    return {"from": "literal", "value": given}


def _value(rule: dict[str, Any], item: dict[str, Any]) -> Any:
    kind = rule["from"]
    if kind == "literal":
        found = rule.get("value")
    elif kind in ("prompt", "output"):
        found = item[kind]
    else:
        found = (item["metadata"] if kind == "metadata" else item).get(rule["key"])
    if found is None and rule.get("fallback") is not None:
        found = _value(rule["fallback"], item)
    return rule.get("default") if found is None else found


def _write(part: Path, lines: str) -> None:
    part.write_text(lines, "utf8")
