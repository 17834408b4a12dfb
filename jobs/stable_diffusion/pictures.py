"""PNG files that say in themselves how they were made; the same picture is the same bytes."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import emit
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from stoker_job.artifacts import outputs, write_whole

_INLINE_BYTES = 700_000


def free_names() -> Iterator[str]:
    """A session goes on counting: no task writes over the pictures of another."""
    number = 1
    while True:
        name = f"image-{number:04d}.png"
        if not (outputs() / name).exists():
            yield name
        number += 1


def write_picture(name: str, picture: Image.Image, about: dict[str, Any]) -> Path:
    """Nothing in it depends on the time or the machine."""
    info = PngInfo()
    for key, value in about.items():
        if value is not None:
            info.add_itxt(key, str(value))
    file = outputs() / name
    write_whole(file, lambda part: picture.save(part, "PNG", pnginfo=info))
    return file


def tell(facts: dict[str, Any]) -> None:
    """An `artifact` event as soon as the picture is there. The files of a session come only at its end, so there it carries the picture itself."""
    file = outputs() / facts["name"]
    content = {"base64": _inline(file)} if emit.is_session() else {}
    emit.emit("artifact", **facts, contentType="image/png", size=file.stat().st_size, **content)


def _inline(file: Path) -> str | None:
    size = file.stat().st_size
    if size > _INLINE_BYTES:
        emit.log(f"{file.name} has {size} bytes, an event carries at most {_INLINE_BYTES}: it is among the files of the session", "warning")
        return None
    return base64.b64encode(file.read_bytes()).decode()
