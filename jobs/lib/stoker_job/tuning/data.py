"""The examples a job learns from: texts, pairs of a better and a worse answer, or prompts."""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..inputs import Inputs
from ..problems import Failed, Refused
from ..sections import Rules, full_texts, section, sections
from . import fields
from .rows import Row, one_source, read_dataset, read_jsonl, texts_in


@dataclass(frozen=True)
class Learned:
    """Examples by column, ready for a trainer; `name` is where they come from."""

    name: str
    rows: list[dict[str, str]]

    def __len__(self) -> int:
        return len(self.rows)

    def sha256(self) -> str:
        return hashlib.sha256(json.dumps(self.rows, sort_keys=True).encode()).hexdigest()

    def facts(self) -> dict[str, Any]:
        return {"name": self.name, "kind": "text", "trainExamples": len(self), "synthetic": False, "sha256": self.sha256()}


Read = Callable[[], Learned]


def texts_wanted(given: Any) -> Read:
    """For sft and lora_sft: whole texts, or prompt, separator and response joined to one."""
    data = _checked(given, fields.DATA_TEXTS)
    source = one_source(data, ["dataset_name", "jsonl", "jsonl_path", "prompts"])
    if source == "prompts":
        return _listed(full_texts("data.prompts", data["prompts"]), "text", data["max_samples"])
    file = _file(data, source, fields.FILE_TEXTS)
    names = (file["text_field"], file["prompt_field"], file["response_field"]) if file else ()
    whole, prompt, response = (one or data[other] for one, other in zip(names or (None,) * 3, ("text_field", "prompt_column", "response_column"), strict=True))
    separator = file["separator"] if file and file["separator"] is not None else data["separator"]
    if (prompt is None) != (response is None):
        raise Refused(f"data names the column of the {'response' if prompt is None else 'prompt'} only, prompt and response belong together")
    if whole is not None and prompt is not None:
        raise Refused(f"data names the text column {whole} and the prompt column {prompt}, a row is either one text or a prompt and a response")
    columns = [prompt, response] if prompt is not None else [whole or "text"]
    return _reader(data, file, columns, lambda found: {"text": separator.join(found)})


def pairs_wanted(given: Any) -> Read:
    """For dpo: prompt, chosen, rejected."""
    data = _checked(given, fields.DATA_PAIRS)
    source = one_source(data, ["dataset_name", "jsonl", "jsonl_path", "preferences"])
    names = ("prompt", "chosen", "rejected")
    if source == "preferences":
        rows = _preferences(data["preferences"], data["max_samples"])
        return lambda: Learned("preferences", rows)
    file = _file(data, source, fields.FILE_PAIRS)
    columns = [(file and file[f"{one}_field"]) or data[f"{one}_column"] for one in names]
    return _reader(data, file, columns, lambda found: dict(zip(names, found, strict=True)))


def prompts_wanted(given: Any) -> Read:
    """For ppo: what the model is asked."""
    data = _checked(given, fields.DATA_PROMPTS)
    source = one_source(data, ["dataset_name", "jsonl", "jsonl_path", "prompts"])
    if source == "prompts":
        return _listed(full_texts("data.prompts", data["prompts"]), "prompt", data["max_samples"])
    if data["prompt_column"] and data["text_field"]:
        raise Refused(f"data names the prompt column {data['prompt_column']} and the text field {data['text_field']}, one of them is the prompt")
    file = _file(data, source, fields.FILE_PROMPTS)
    column = data["prompt_column"] or data["text_field"] or (file["query_field"] if file else "prompt")
    return _reader(data, file, [column], lambda found: {"prompt": found[0]})


def _checked(given: Any, rules: Rules) -> Inputs:
    if isinstance(given, str):
        given = {"jsonl_path" if given.endswith(".jsonl") else "dataset_name": given}
    return section("data", given, rules)


def _file(data: Inputs, source: str, rules: Rules) -> Inputs | None:
    if source == "dataset_name":
        return None
    given = data["jsonl"] if source == "jsonl" else {"path": data["jsonl_path"]}
    file = section("data.jsonl", {"path": given} if isinstance(given, str) else given, rules)
    return Inputs({**file, "sha256": file["sha256"] or data["sha256"]})


def _reader(data: Inputs, file: Inputs | None, columns: list[str], example: Callable[[list[str]], dict[str, str]]) -> Read:
    def read() -> Learned:
        name = file["path"] if file else data["dataset_name"]
        found = texts_in(_rows(data, file), columns)
        if not found:
            raise Failed(f"data {name} has no rows with a text, at least one is needed")
        return Learned(name, [example(one) for one in found])

    return read


def _rows(data: Inputs, file: Inputs | None) -> list[Row]:
    if file is None:
        return read_dataset(data)
    return read_jsonl("data.jsonl_path" if data["jsonl"] is None else "data.jsonl.path", file["path"], file["sha256"], data["max_samples"])


def _listed(found: list[str], column: str, most: int | None) -> Read:
    return lambda: Learned("prompts", [{column: one} for one in found[:most]])


def _preferences(given: Any, most: int | None) -> list[dict[str, str]]:
    rules: Rules = {name: {"type": "string", "required": True, "default": None, "description": "a text"} for name in ("prompt", "chosen", "rejected")}
    found = [dict(section(f"data.preferences[{number}]", one, rules)) for number, one in enumerate(sections("data.preferences", given)[:most])]
    if not found:
        raise Refused("data.preferences is [], it must have at least one object of prompt, chosen and rejected")
    return found
