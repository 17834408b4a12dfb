"""Digits drawn by rule, for trying out without data: used only when asked for by name, and the result says so."""

import dataclasses

import torch

from .examples import Dataset, Examples, dataset_of

NAME = "synthetic-digits"
_TRAIN, _HELD_OUT, _SIZE, _SCALE = 2000, 500, 28, 3
_GLYPHS = (
    "01110 10001 10011 10101 11001 10001 01110",
    "00100 01100 00100 00100 00100 00100 01110",
    "01110 10001 00001 00110 01000 10000 11111",
    "01110 10001 00001 00110 00001 10001 01110",
    "00010 00110 01010 10010 11111 00010 00010",
    "11111 10000 11110 00001 00001 10001 01110",
    "00110 01000 10000 11110 10001 10001 01110",
    "11111 00001 00010 00100 01000 01000 01000",
    "01110 10001 10001 01110 10001 10001 01110",
    "01110 10001 10001 01111 00001 00010 01100",
)


def synthetic_digits(seed: int) -> Dataset:
    """Each a glyph at a random place, with random brightness and noise."""
    random = torch.Generator().manual_seed(seed)
    train, held_out = _drawn(_TRAIN, random), _drawn(_HELD_OUT, random)
    dataset = dataset_of(NAME, "image", [str(digit) for digit in range(10)], train, held_out, seed)
    return dataclasses.replace(dataset, is_synthetic=True)


def _drawn(count: int, random: torch.Generator) -> Examples:
    labels = torch.randint(0, 10, (count,), generator=random)
    images = torch.randn((count, _SIZE, _SIZE), generator=random) * 20
    glyphs = torch.stack([_glyph(text) for text in _GLYPHS])
    height, width = glyphs.shape[1:]
    tops = torch.randint(0, _SIZE - height + 1, (count,), generator=random)
    lefts = torch.randint(0, _SIZE - width + 1, (count,), generator=random)
    bright = torch.randint(120, 256, (count,), generator=random)
    for row in range(count):
        top, left = int(tops[row]), int(lefts[row])
        images[row, top : top + height, left : left + width] += glyphs[labels[row]] * bright[row]
    return Examples(images.clamp(0, 255).to(torch.uint8).unsqueeze(1), labels)


def _glyph(text: str) -> torch.Tensor:
    rows = torch.tensor([[float(dot) for dot in row] for row in text.split()])
    return rows.repeat_interleave(_SCALE, 0).repeat_interleave(_SCALE, 1)
