"""Folders of the transformers library, for texts: config.json, safetensors weights and a tokenizer."""

import json
import os
import tarfile
import tempfile
from pathlib import Path
from typing import Any

import torch

from ..artifacts import write_whole
from ..problems import Failed

ARCHIVE = "model.tar.gz"
_MOST_LENGTH = 256
_WANTED = "ForSequenceClassification"


class _Logits(torch.nn.Module):
    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, numbers: torch.Tensor, there: torch.Tensor) -> torch.Tensor:
        return self.inner(input_ids=numbers, attention_mask=there).logits


class PretrainedClassifier:
    """A sequence classifier of transformers with its tokenizer."""

    kind = "text"

    def __init__(self, inner: Any, tokenizer: Any) -> None:
        self.inner, self.tokenizer = inner, tokenizer
        self.module = _Logits(inner)
        self.classes = [str(inner.config.id2label[number]) for number in range(inner.config.num_labels)]

    def encode(self, items: Any) -> tuple[torch.Tensor, ...]:
        most = min(_MOST_LENGTH, self.tokenizer.model_max_length, getattr(self.inner.config, "max_position_embeddings", _MOST_LENGTH))
        rows = self.tokenizer(list(items), padding=True, truncation=True, max_length=most, return_tensors="pt")
        return rows["input_ids"], rows["attention_mask"]

    def with_classes(self, classes: list[str]) -> "PretrainedClassifier":
        with tempfile.TemporaryDirectory(dir=".") as folder:
            self.inner.save_pretrained(folder)
            return PretrainedClassifier(_model(Path(folder), classes), self.tokenizer)

    def save(self, folder: Path) -> str:
        """As one archive that unpacks into a folder transformers can load."""
        with tempfile.TemporaryDirectory(dir=".") as made:
            self.inner.save_pretrained(made)
            self.tokenizer.save_pretrained(made)
            write_whole(folder / ARCHIVE, lambda part: _pack(Path(made), part))
        return ARCHIVE

    def facts(self) -> dict[str, Any]:
        parameters = sum(one.numel() for one in self.module.parameters())
        return {"architecture": type(self.inner).__name__, "size": None, "classes": self.classes, "parameters": parameters}


def is_pretrained(folder: Path) -> bool:
    return (folder / "config.json").is_file()


def load_pretrained(folder: Path) -> PretrainedClassifier:
    """Only from the folder, never from a hub; no code of the folder is run, no pickled weights are read."""
    built = json.loads((folder / "config.json").read_text("utf8")).get("architectures") or ["nothing"]
    if not str(built[0]).endswith(_WANTED):
        raise Failed(f"model {folder.name} is a {built[0]}, this program takes one that ends with {_WANTED}")
    if not list(folder.glob("*.safetensors")):
        raise Failed(f"model {folder.name} has a config.json but no .safetensors weights")
    import transformers

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, ImportError) as error:
        raise Failed(f"model {folder.name} has no tokenizer that can be loaded: {str(error).splitlines()[0]}") from error
    return PretrainedClassifier(_model(folder, None), tokenizer)


def _model(folder: Path, classes: list[str] | None) -> Any:
    import transformers

    os.environ["HF_HUB_OFFLINE"] = "1"
    labels = {} if classes is None else {
        "num_labels": len(classes),
        "id2label": dict(enumerate(classes)),
        "label2id": {label: number for number, label in enumerate(classes)},
        "ignore_mismatched_sizes": True,
    }  # fmt: skip
    return transformers.AutoModelForSequenceClassification.from_pretrained(
        folder, local_files_only=True, use_safetensors=True, dtype=torch.float32, **labels
    )


def _pack(folder: Path, part: Path) -> None:
    with tarfile.open(part, "w:gz") as archive:
        for file in sorted(folder.iterdir()):
            archive.add(file, f"model/{file.name}")
