"""The course of a training as a picture: loss and accuracy by epoch."""

from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from .artifacts import write_whole

_WIDTH, _HEIGHT, _MARGIN = 480, 340, 56
_INK, _GRID, _TRAIN, _HELD_OUT = "#222222", "#dddddd", "#9aa7b5", "#c8501e"


def draw_curve(file: Path, title: str, history: list[dict[str, float]]) -> None:
    """Two panels side by side, as PNG."""
    picture = Image.new("RGB", (2 * _WIDTH, _HEIGHT + 30), "white")
    pen = ImageDraw.Draw(picture)
    pen.text((_MARGIN, 10), title, _INK, _font(16))
    _panel(pen, 0, "loss", history, "loss", "trainLoss", 1)
    _panel(pen, _WIDTH, "accuracy %", history, "accuracy", "trainAccuracy", 100)
    write_whole(file, lambda part: picture.save(part, "PNG"))


def _panel(pen: Any, left: int, title: str, history: list[dict[str, float]], held_out: str, train: str, scale: int) -> None:
    values = [scale * row[key] for row in history for key in (held_out, train)]
    low, high = _range(values)
    box = (left + _MARGIN, 60, left + _WIDTH - 16, _HEIGHT)
    for part in range(5):
        y = box[3] - part * (box[3] - box[1]) / 4
        pen.line((box[0], y, box[2], y), _GRID)
        pen.text((box[0] - 6, y), f"{low + part * (high - low) / 4:.3g}", _INK, _font(11), anchor="rm")
    pen.text((box[0], 42), title, _INK, _font(13))
    pen.text((box[2], 42), "held out", _HELD_OUT, _font(12), anchor="ra")
    pen.text((box[2] - 70, 42), "training", _TRAIN, _font(12), anchor="ra")
    for key, colour in ((train, _TRAIN), (held_out, _HELD_OUT)):
        points = [(_x(box, row, len(history)), _y(box, scale * row[key], low, high)) for row in history]
        if len(points) > 1:
            pen.line(points, colour, 2)
        for x, y in points:
            pen.ellipse((x - 3, y - 3, x + 3, y + 3), colour)
    for row in history[:: max(1, len(history) // 10)]:
        pen.text((_x(box, row, len(history)), box[3] + 6), f"{row['epoch']:g}", _INK, _font(11), anchor="ma")


def _range(values: list[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = (high - low) * 0.08 or 0.5
    return low - room, high + room


def _x(box: tuple[int, int, int, int], row: dict[str, float], epochs: int) -> float:
    part = 0.5 if epochs == 1 else (row["epoch"] - 1) / (epochs - 1)
    return box[0] + 10 + part * (box[2] - box[0] - 20)


def _y(box: tuple[int, int, int, int], value: float, low: float, high: float) -> float:
    return box[3] - (value - low) / (high - low) * (box[3] - box[1])


def _font(size: int) -> Any:
    return ImageFont.load_default(size)
