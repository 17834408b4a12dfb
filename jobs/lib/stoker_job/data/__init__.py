"""Labelled examples from files: images (IDX, folders of classes, npz) and texts (JSON lines, CSV)."""

from .examples import Dataset, Examples
from .open import open_dataset

__all__ = ["Dataset", "Examples", "open_dataset"]
