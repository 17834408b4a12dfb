"""Messages as the one text a model was trained to go on from: the template of its own tokenizer."""

from typing import Any

import jinja2
from stoker_job.inputs import shown
from stoker_job.problems import Refused, first_line

_KEYS = {"role", "content", "name"}


def rendered(tokenizer: Any, messages: list[dict[str, str]], template: str | None = None) -> str:
    """Ends where the answer begins."""
    if template is None and not tokenizer.chat_template:
        raise Refused("the model has no chat template, so messages cannot be put to it: use one that was made for chats, or plain prompts")
    try:
        return tokenizer.apply_chat_template(messages, chat_template=template, tokenize=False, add_generation_prompt=True)
    except (jinja2.TemplateError, TypeError, ValueError) as error:
        raise Refused(f"the chat template of the model refuses the messages: {first_line(error)}") from error


def messages_of(given: Any, system_prompt: str | None = None) -> list[dict[str, str]]:
    """Texts by role; a system prompt goes first unless the messages bring one."""
    if not isinstance(given, list) or not given:
        raise Refused(f"messages is {shown(given)}, it must be a list with at least one message")
    messages = [_message(number, one) for number, one in enumerate(given)]
    if system_prompt and all(one["role"] != "system" for one in messages):
        return [{"role": "system", "content": system_prompt}, *messages]
    return messages


def _message(number: int, given: Any) -> dict[str, str]:
    path = f"messages[{number}]"
    if not isinstance(given, dict) or not isinstance(given.get("role"), str):
        raise Refused(f"{path} is {shown(given)}, it must have role and content")
    strange = next((name for name, value in given.items() if name not in _KEYS and value is not None), None)
    if strange is not None:
        raise Refused(f"{path}.{strange} is {shown(given[strange])}, this program takes role, content and name")
    return {"role": given["role"], "content": _text(path, given.get("content")), **({"name": given["name"]} if given.get("name") else {})}


def _text(path: str, content: Any) -> str:
    """A text, or parts of which all are texts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    for part in parts:
        if not isinstance(part, dict) or part.get("type") != "text" or not isinstance(part.get("text"), str):
            raise Refused(f"{path}.content has {shown(part)}, this program reads texts only")
    return "".join(part["text"] for part in parts)
