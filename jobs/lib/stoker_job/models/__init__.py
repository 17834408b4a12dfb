"""Classifiers: our own small networks in one self-describing file, and folders of transformers."""

from .classifier import Classifier
from .open import open_model

__all__ = ["Classifier", "open_model"]
