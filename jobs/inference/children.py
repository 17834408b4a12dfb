"""Questions of other tasks that were merged into this one because they ask the same model in the same way."""

import re
from typing import Any

from question import Question, question_of
from stoker_job.inputs import shown
from stoker_job.problems import Refused, sentence_of
from stoker_job.sections import section, sections

_CHILD: dict[str, dict[str, Any]] = {
    "task_id": {"type": "string", "default": None, "required": True, "description": "the id under which its answers are told"},
    "spec": {"type": "any", "default": None},
    "metadata": {"type": "any", "default": None},
}
_SAME = ("model", "enforce_cpu", "checkpoint")


def children_of(spec: dict[str, Any]) -> dict[str, Question | str]:
    """By id what each wants to know, or the sentence why it cannot be asked: a bad child fails alone."""
    found: dict[str, Question | str] = {}
    for number, given in enumerate(sections("merge_children", spec.get("merge_children"))):
        child = section(f"merge_children[{number}]", given, _CHILD)
        if not re.fullmatch(r"[\w-][\w.:-]*", child["task_id"]):
            raise Refused(f"merge_children[{number}].task_id is {shown(child['task_id'])}, it must be an id")
        if child["task_id"] in found:
            raise Refused(f"merge_children has the task {child['task_id']} twice")
        found[child["task_id"]] = _question(child["spec"], spec)
    return found


def _question(own: Any, parent: dict[str, Any]) -> Question | str:
    try:
        if not isinstance(own, dict):
            raise Refused(f"its spec is {shown(own)}, it must be an object")
        _compare(own, parent)
        return question_of(own)
    except Exception as error:  # one child's fault, whatever it is, is no other's
        return sentence_of(error)


def _compare(own: dict[str, Any], parent: dict[str, Any]) -> None:
    """Only the data and the system prompt may differ: it is answered by the parent's model, in the parent's way."""
    for name in _SAME:
        if (own.get(name) or None) != (parent.get(name) or None):
            raise Refused(f"its {name} is {shown(own.get(name))}, the task it was merged into has {shown(parent.get(name))}")
    if _settings(own) != _settings(parent):
        raise Refused(f"its inference is {shown(_settings(own))}, the task it was merged into has {shown(_settings(parent))}")


def _settings(spec: dict[str, Any]) -> Any:
    given = spec.get("inference") or {}
    return {name: value for name, value in given.items() if name != "system_prompt"} if isinstance(given, dict) else given
