"""Our own classifiers, saved as one safetensors file that says in its header how to build and feed them."""

import dataclasses
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from ..artifacts import write_whole
from ..data import Dataset
from ..problems import Failed
from .networks import PAD, UNKNOWN, ImageNetwork, TextNetwork

FILE = "model.safetensors"
_FORMAT = "stoker-classifier-1"
_MOST_WORDS, _MOST_LENGTH = 20_000, 256


@dataclasses.dataclass(frozen=True)
class Design:
    """All that is needed to build the network again and to feed it."""

    kind: str
    size: str
    classes: list[str]
    shape: tuple[int, int, int] = (0, 0, 0)
    mean: float = 0.0
    deviation: float = 1.0
    words: tuple[str, ...] = ()
    length: int = 0


class OwnClassifier:
    """A network of networks.py with its design."""

    def __init__(self, design: Design) -> None:
        self.design, self.kind, self.classes = design, design.kind, design.classes
        self._numbers = {word: number for number, word in enumerate(design.words, 2)}
        self.module = _network(design)

    def encode(self, items: Any) -> tuple[torch.Tensor, ...]:
        if self.kind == "text":
            return (torch.tensor([self._padded(text) for text in items], dtype=torch.int64),)
        if tuple(items.shape[1:]) != tuple(self.design.shape):
            raise Failed(f"images have the shape {list(items.shape[1:])}, the model takes {list(self.design.shape)}")
        return (items,)

    def with_classes(self, classes: list[str]) -> "OwnClassifier":
        changed = OwnClassifier(dataclasses.replace(self.design, classes=classes))
        kept = {name: value for name, value in self.module.state_dict().items() if not name.startswith("head.")}
        changed.module.load_state_dict(kept, strict=False)
        return changed

    def save(self, folder: Path) -> str:
        weights = {name: value.detach().cpu().contiguous() for name, value in self.module.state_dict().items()}
        about = {_FORMAT: json.dumps(dataclasses.asdict(self.design))}
        write_whole(folder / FILE, lambda part: save_file(weights, part, about))
        return FILE

    def facts(self) -> dict[str, Any]:
        parameters = sum(one.numel() for one in self.module.parameters())
        return {"architecture": type(self.module).__name__, "size": self.design.size, "classes": self.classes, "parameters": parameters}

    def _padded(self, text: str) -> list[int]:
        numbers = [self._numbers.get(word, UNKNOWN) for word in words_of(text)[: self.design.length]]
        return numbers + [PAD] * (self.design.length - len(numbers))


def designed_for(data: Dataset, size: str, seed: int) -> OwnClassifier:
    """A fresh network for a dataset; the seed decides its first weights."""
    torch.manual_seed(seed)
    return OwnClassifier(_image_design(data, size) if data.kind == "image" else _text_design(data, size))


def load_own(file: Path) -> OwnClassifier:
    """Exactly the network that was saved, with every weight in its place."""
    try:
        with safe_open(file, "pt") as opened:
            about = opened.metadata() or {}
            weights = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 - it is no dict
    except (SafetensorError, OSError) as error:
        raise Failed(f"{file.name} is no whole safetensors file: {error}") from error
    if _FORMAT not in about:
        raise Failed(f"the header of {file.name} has {', '.join(about) or 'nothing'}, {_FORMAT} is needed: weights of mnist_training, training or fine-tuning")
    design = json.loads(about[_FORMAT])
    loaded = OwnClassifier(Design(**{**design, "shape": tuple(design["shape"]), "words": tuple(design["words"])}))
    loaded.module.load_state_dict(weights)
    return loaded


def words_of(text: str) -> list[str]:
    """Words and signs of a text, in small letters."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


def _network(design: Design) -> torch.nn.Module:
    if design.kind == "text":
        return TextNetwork(len(design.words) + 2, len(design.classes), design.size)
    return ImageNetwork(design.shape, len(design.classes), design.size, design.mean, design.deviation)


def _image_design(data: Dataset, size: str) -> Design:
    shape = tuple(data.train.items.shape[1:])
    if shape[1] < 4 or shape[2] < 4:
        raise Failed(f"images have {shape[1]} x {shape[2]} pixels, at least 4 x 4 are needed")
    pixels = data.train.items[:10_000].double() / 255
    return Design("image", size, data.classes, shape, float(pixels.mean()), max(float(pixels.std()), 1e-3))


def _text_design(data: Dataset, size: str) -> Design:
    split = [words_of(text) for text in data.train.items]
    counted = Counter(word for words in split for word in words)
    common = sorted(counted, key=lambda word: (-counted[word], word))[:_MOST_WORDS]
    length = max(1, min(_MOST_LENGTH, max(len(words) for words in split)))
    return Design("text", size, data.classes, words=tuple(common), length=length)
