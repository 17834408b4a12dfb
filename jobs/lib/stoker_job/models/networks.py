"""Two small networks: convolutions for images, averaged word vectors for texts.

Neither has dropout or statistics over a batch: an example counts the same whatever it is trained with, so several
ranks compute what one would.
"""

import torch
from torch import nn

IMAGE_SIZES = {"small": (16, 32, 64), "medium": (32, 64, 128), "large": (64, 128, 256)}
TEXT_SIZES = {"small": (32, 32), "medium": (64, 64), "large": (128, 128)}
PAD, UNKNOWN = 0, 1
_GROUPS = 4


class ImageNetwork(nn.Module):
    """Two normalised convolutions, each halving the picture, and two layers; takes bytes."""

    def __init__(self, shape: tuple[int, int, int], classes: int, size: str, mean: float, deviation: float) -> None:
        super().__init__()
        channels, height, width = shape
        first, second, hidden = IMAGE_SIZES[size]
        self.mean, self.deviation = mean, deviation
        self.features = nn.Sequential(
            nn.Conv2d(channels, first, 3, padding=1), nn.GroupNorm(_GROUPS, first), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(first, second, 3, padding=1), nn.GroupNorm(_GROUPS, second), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        )  # fmt: skip
        self.hidden = nn.Sequential(nn.Linear(second * (height // 4) * (width // 4), hidden), nn.ReLU())
        self.head = nn.Linear(hidden, classes)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        scaled = (images.float() / 255 - self.mean) / self.deviation
        return self.head(self.hidden(self.features(scaled)))


class TextNetwork(nn.Module):
    """The mean of the word vectors of a text, and two layers; takes word numbers, 0 where a text is shorter."""

    def __init__(self, words: int, classes: int, size: str) -> None:
        super().__init__()
        width, hidden = TEXT_SIZES[size]
        self.words = nn.Embedding(words, width, padding_idx=PAD)
        self.hidden = nn.Sequential(nn.Linear(width, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, classes)

    def forward(self, numbers: torch.Tensor) -> torch.Tensor:
        there = (numbers != PAD).unsqueeze(2)
        mean = (self.words(numbers) * there).sum(1) / there.sum(1).clamp(min=1)
        return self.head(self.hidden(mean))
