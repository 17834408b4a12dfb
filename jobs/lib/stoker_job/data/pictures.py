"""Images in a folder for each class, as PNG, JPEG and what else Pillow reads."""

from pathlib import Path

import torch
from PIL import Image, UnidentifiedImageError

from ..problems import Failed
from .examples import Dataset, Examples, dataset_of, numbered

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp")
_HELD_OUT = ("test", "val", "validation")


def is_pictures(folder: Path) -> bool:
    return any(file.suffix.lower() in SUFFIXES for file in folder.rglob("*") if file.is_file())


def open_pictures(name: str, folder: Path, seed: int) -> Dataset:
    """`class/image.png`, or the same below `train/` and `test/`; all get the size and the colours of the first."""
    train_folder = folder / "train" if (folder / "train").is_dir() else folder
    apart = next((folder / one for one in _HELD_OUT if train_folder != folder and (folder / one).is_dir()), None)
    files = _files(name, train_folder)
    shape = shape_of(files[0])
    labels, classes = numbered([file.parent.name for file in files])
    train = Examples(_stack(files, shape), labels)
    if apart is None:
        return dataset_of(name, "image", classes, train, None, seed)
    held = _files(name, apart)
    held_labels, _ = numbered([file.parent.name for file in held], classes)
    return dataset_of(name, "image", classes, train, Examples(_stack(held, shape), held_labels), seed)


def shape_of(file: Path) -> tuple[int, int, int]:
    """Channels, height, width."""
    with _opened(file) as image:
        return (1 if image.mode in ("L", "1", "I;16") else 3, image.height, image.width)


def read_picture(file: Path, shape: tuple[int, int, int]) -> torch.Tensor:
    """Bytes in the asked shape; another size is resampled."""
    channels, height, width = shape
    with _opened(file) as image:
        fitted = image.convert("L" if channels == 1 else "RGB").resize((width, height))
        flat = torch.frombuffer(bytearray(fitted.tobytes()), dtype=torch.uint8)
    return flat.reshape(height, width, channels).permute(2, 0, 1).contiguous()


def _files(name: str, folder: Path) -> list[Path]:
    files = sorted(file for file in folder.glob("*/*") if file.suffix.lower() in SUFFIXES)
    if not files:
        raise Failed(f"dataset {name} has no images in {folder.name}/CLASS/, at least one in each of two classes is needed")
    return files


def _stack(files: list[Path], shape: tuple[int, int, int]) -> torch.Tensor:
    return torch.stack([read_picture(file, shape) for file in files])


def _opened(file: Path) -> Image.Image:
    try:
        return Image.open(file)
    except (UnidentifiedImageError, OSError) as error:
        raise Failed(f"{file.name} is no image that can be read: {error}") from error
