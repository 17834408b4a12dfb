"""A result that fits into an event: long lists are cut there, never in the file that has all of it."""

import json
from typing import Any

_MOST_BYTES = 180_000


def told(result: dict[str, Any], file: str) -> dict[str, Any]:
    """As many items of the task and of each child as there is room for, with how many there are and where all of them are."""
    children = result.get("children", {})
    lists = [result, *(child for child in children.values() if "items" in child)]
    if _size(result) <= _MOST_BYTES:
        return result
    room = _MOST_BYTES // (len(lists) + 1)
    cut = _cut({key: value for key, value in result.items() if key != "children"}, room)
    if children:
        cut["children"] = {name: _cut(child, room) if "items" in child else child for name, child in children.items()}
    return {**cut, "itemsFile": file}


def _cut(part: dict[str, Any], room: int) -> dict[str, Any]:
    items, used = [], 0
    for item in part["items"]:
        used += _size(item) + 2
        if used > room:
            break
        items.append(item)
    return {**part, "items": items, "itemCount": len(part["items"])}


def _size(value: Any) -> int:
    return len(json.dumps(value, default=str))
