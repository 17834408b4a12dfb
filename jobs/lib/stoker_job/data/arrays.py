"""Images as arrays in one npz file: x_train, y_train and, if there, x_test, y_test; or x and y."""

from pathlib import Path

import numpy
import torch

from ..problems import Failed
from .examples import Dataset, Examples, dataset_of, numbered

_NAMES = (("x_train", "y_train"), ("train_images", "train_labels"), ("x", "y"), ("images", "labels"))
_HELD_OUT = (("x_test", "y_test"), ("test_images", "test_labels"))


def open_arrays(name: str, file: Path, seed: int) -> Dataset:
    """Pickled objects inside are never loaded."""
    try:
        with numpy.load(file, allow_pickle=False) as archive:
            arrays = {key: archive[key] for key in archive.files}
    except (OSError, ValueError) as error:
        raise Failed(f"{file.name} is no npz file of plain arrays: {error}") from error
    pair = next((names for names in _NAMES if set(names) <= arrays.keys()), None)
    if pair is None:
        raise Failed(f"{file.name} has the arrays {', '.join(arrays) or 'none'}, x_train and y_train (or x and y) are needed")
    apart = next((names for names in _HELD_OUT if set(names) <= arrays.keys()), None)
    train, classes = _examples(name, arrays, pair, None)
    held_out = None if apart is None else _examples(name, arrays, apart, classes)[0]
    return dataset_of(name, "image", classes, train, held_out, seed)


def _examples(name: str, arrays: dict[str, numpy.ndarray], pair: tuple[str, str], known: list[str] | None) -> tuple[Examples, list[str]]:
    images, labels = (arrays[one] for one in pair)
    if labels.ndim != 1 or labels.dtype.kind not in "iuU":
        raise Failed(f"{pair[1]} of dataset {name} has the shape {list(labels.shape)} of {labels.dtype}, one whole number or text for each image is needed")
    numbers, classes = numbered([str(one) for one in labels.tolist()], known)
    return Examples(bytes_of(pair[0], images), numbers), classes


def bytes_of(name: str, images: numpy.ndarray) -> torch.Tensor:
    """[n, height, width], with 1 or 3 channels behind or in front; numbers from 0 to 255, or from 0 to 1."""
    if images.ndim == 3:
        images = images[:, None]
    elif images.ndim == 4 and images.shape[3] in (1, 3):
        images = images.transpose(0, 3, 1, 2)
    if images.ndim != 4 or images.shape[1] not in (1, 3) or images.dtype.kind not in "iuf":
        raise Failed(f"{name} has the shape {list(images.shape)} of {images.dtype}, numbers in [n, height, width] or with 1 or 3 channels are needed")
    low, high = (float(images.min()), float(images.max())) if images.size else (0.0, 0.0)
    if low < 0 or high > 255 or not numpy.isfinite([low, high]).all():
        raise Failed(f"{name} has values from {low:g} to {high:g}, they must lie between 0 and 255")
    scale = 255 if images.dtype.kind == "f" and high <= 1 else 1
    return torch.from_numpy(numpy.ascontiguousarray((images * scale).round().astype(numpy.uint8)))
