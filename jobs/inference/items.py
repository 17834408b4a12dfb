"""What is to be predicted: texts, image files, IDX files, or pixels in the input itself."""

from pathlib import Path
from typing import Any

import numpy
from stoker_job.data.arrays import bytes_of
from stoker_job.data.idx import read_idx
from stoker_job.data.pictures import read_picture
from stoker_job.inputs import shown
from stoker_job.locate import locate
from stoker_job.models import Classifier
from stoker_job.models.own import OwnClassifier
from stoker_job.problems import Refused


def items_of(given: Any, model: Classifier) -> list[Any]:
    """Each item as the model's `encode` takes a batch of one."""
    if model.kind == "text":
        items = _texts(given)
    else:
        assert isinstance(model, OwnClassifier)
        items = _images(given, model.design.shape)
    if not items:
        raise Refused("input is an empty list, at least one item is needed")
    return items


def _texts(given: Any) -> list[list[str]]:
    texts = given if isinstance(given, list) else [given]
    for text in texts:
        if not isinstance(text, str):
            raise Refused(f"an item of input is {shown(text)}, the model takes texts")
    return [[text] for text in texts]


def _images(given: Any, shape: tuple[int, int, int]) -> list[Any]:
    """A path or a list of paths; or pixels: one image, or a list of images."""
    if isinstance(given, str) or (isinstance(given, list) and any(isinstance(one, str) for one in given)):
        paths = given if isinstance(given, list) else [given]
        return [image for path in paths for image in _from_file(path, shape)]
    return _from_pixels(given, shape)


def _from_file(path: Any, shape: tuple[int, int, int]) -> list[Any]:
    if not isinstance(path, str):
        raise Refused(f"an item of input is {shown(path)}, the items before are paths of images")
    file = locate("input", path, None)
    if "idx" in file.name and "ubyte" in file.name:
        return [image.reshape(1, 1, *image.shape) for image in read_idx(file)]
    return [read_picture(Path(file), shape).unsqueeze(0)]


def _from_pixels(given: Any, shape: tuple[int, int, int]) -> list[Any]:
    try:
        pixels = numpy.array(given, dtype=numpy.float64)
    except (TypeError, ValueError):
        raise Refused(f"input is {shown(given)}, the model takes paths of images or pixels in the shape {list(shape)}") from None
    fits = [tuple(shape), tuple(shape[1:])] if shape[0] == 1 else [tuple(shape)]
    if pixels.shape in fits:
        pixels = pixels[None]
    if pixels.shape[1:] not in fits:
        raise Refused(f"input has the shape {list(pixels.shape)}, the model takes {list(shape)}, one or a list of them")
    return [image.unsqueeze(0) for image in bytes_of("input", pixels.reshape(-1, *shape))]
