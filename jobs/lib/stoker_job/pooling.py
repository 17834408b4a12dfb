"""How one vector is made of what an encoder says of each token: as its folder says, in the way of sentence encoders."""

import json
from pathlib import Path
from typing import Any

import torch

from .model_source import Source
from .problems import Failed, first_line

_POOLINGS = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
_WANTED = ["*.json", "*.safetensors", "*.txt", "*.model"]
_MODULES = ("Transformer", "Pooling", "Normalize")


def encoder_folder(source: Source) -> Path:
    """Of an encoder on the model hub all that says how it is meant to be used comes too, its pooling above all."""
    if Path(source.place).is_dir():
        return Path(source.place)
    import huggingface_hub

    try:
        kept = huggingface_hub.snapshot_download(source.place, revision=source.revision, allow_patterns=_WANTED, local_files_only=source.is_local)
    except (OSError, ValueError) as error:
        raise Failed(f"the encoder {source.name} is no folder of the job, and the model hub does not give it: {first_line(error)}") from error
    return Path(kept)


def pooling_of(folder: Path) -> str:
    """One that says nothing gets the mean."""
    modules = [str(one.get("type", "")).rsplit(".", 1)[-1] for one in read_json(folder / "modules.json") or []]
    if foreign := [name for name in modules if name not in _MODULES]:
        raise Failed(f"the encoder {folder.name} has a part {foreign[0]}, encoders of {', '.join(_MODULES)} are taken")
    said = read_json(folder / "1_Pooling" / "config.json")
    if said is None:
        return "mean"
    chosen = [name for name, value in said.items() if name.startswith("pooling_mode_") and value is True]
    if len(chosen) != 1 or chosen[0] not in _POOLINGS:
        raise Failed(f"the encoder {folder.name} pools by {', '.join(chosen) or 'nothing'}, one of {', '.join(_POOLINGS)} is known")
    return _POOLINGS[chosen[0]]


def pooled(states: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """One row of length 1 for each text; padding counts for nothing."""
    there = mask.unsqueeze(2).float()
    whole = states[:, 0] if pooling == "cls" else (states * there).sum(1) / there.sum(1).clamp(min=1)
    vectors = torch.nn.functional.normalize(whole, dim=1).cpu()
    if not torch.isfinite(vectors).all():
        raise Failed("the encoder answers with NaN: its weights are broken, or its dtype is too small for them")
    return vectors


def read_json(file: Path) -> Any:
    return json.loads(file.read_text("utf8")) if file.is_file() else None
