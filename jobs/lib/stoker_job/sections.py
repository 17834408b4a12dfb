"""Inputs below inputs: the keys of a section, checked by the rules that `program.json` has for those at the top."""

from typing import Any

from .inputs import Inputs, check, shown
from .problems import Refused

Rules = dict[str, dict[str, Any]]


def section(path: str, given: Any, rules: Rules) -> Inputs:
    """Its values by their own names; what is left out has its default, what is unknown is refused by its whole path."""
    given = {} if given is None else given
    if not isinstance(given, dict):
        raise Refused(f"{path} is {shown(given)}, it must be an object with the keys {', '.join(rules)}")
    declared = {f"{path}.{name}": rule for name, rule in rules.items()}
    checked = check({f"{path}.{name}": value for name, value in given.items()}, declared)
    return Inputs({name: checked[f"{path}.{name}"] for name in rules})


def texts(path: str, given: Any) -> list[str]:
    """One text or a list of them."""
    listed = given if isinstance(given, list) else [] if given is None else [given]
    for number, one in enumerate(listed):
        if not isinstance(one, str):
            raise Refused(f"{path}[{number}] is {shown(one)}, it must be a text")
    return listed


def full_texts(path: str, given: Any) -> list[str]:
    """At least one text, and none of them empty."""
    listed = texts(path, given)
    if not listed:
        raise Refused(f"{path} is {shown(given)}, it must be a list of texts with at least one")
    for number, one in enumerate(listed):
        if not one.strip():
            raise Refused(f"{path}[{number}] is {shown(one)}, it must be a text that is not empty")
    return listed


def stops(path: str, given: Any) -> list[str]:
    """Texts that end an answer; a line break may be one."""
    listed = texts(path, given)
    if "" in listed:
        raise Refused(f"{path} has an empty text, which every answer begins with")
    return listed


def sections(path: str, given: Any) -> list[dict[str, Any]]:
    """A list of objects; their keys are checked by whoever takes them."""
    listed = [] if given is None else given
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise Refused(f"{path} is {shown(given)}, it must be a list of objects")
    return listed
