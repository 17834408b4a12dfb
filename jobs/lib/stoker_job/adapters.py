"""LoRA adapters on a loaded model: kept beside it, or merged into its weights. Both answer the same, but for rounding."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .artifacts import sha256_of
from .inputs import Inputs
from .model_source import check_readable, listing
from .problems import Failed, first_line
from .sections import Rules, section, sections
from .weights_load import PLACE_RULES, place_of

CONFIG = "adapter_config.json"
_WEIGHTS = "adapter_model.safetensors"
_RULES: Rules = {
    "type": {"type": "string", "default": "lora", "choices": ["lora"]},
    "name": {"type": "string", "default": None},
    "id": {"type": "string", "default": None},
    "apply": {"type": "string", "default": "runtime", "choices": ["runtime", "merge"]},
    "scale": {"type": "number", "default": 1.0},
    **PLACE_RULES,
}


def adapters_asked(given: Any) -> list[tuple[str, Inputs]]:
    """`model.adapters` of a template, each with its path for the sentences; no file is looked at yet."""
    named = [(f"model.adapters[{number}]", one) for number, one in enumerate(sections("model.adapters", given))]
    return [(path, section(path, one, _RULES)) for path, one in named]


def placed(adapters: Sequence[tuple[str, Inputs]]) -> list[tuple[str, Inputs, Path]]:
    """Each with its folder; before the model is loaded, so that a missing one is told at once."""
    found = [(path, asked, place_of(path, asked)) for path, asked in adapters]
    for path, _, folder in found:
        check_folder(path, folder)
    return found


def check_folder(path: str, folder: Path) -> None:
    check_readable(path, folder)
    for name in (CONFIG, _WEIGHTS):
        if not (folder / name).is_file():
            raise Failed(f"{path}: {folder.name} has {listing(folder)}, an adapter has {CONFIG} and {_WEIGHTS}")


def with_adapters(module: Any, found: Sequence[tuple[str, Inputs, Path]]) -> Any:
    """Merged ones first, for they become part of what the others lie beside."""
    for number, (path, asked, folder) in enumerate(found):
        if asked["apply"] == "merge":
            module = _laid(module, path, folder, f"merge-{number}", asked["scale"]).merge_and_unload()
    kept = [(number, path, asked, folder) for number, (path, asked, folder) in enumerate(found) if asked["apply"] == "runtime"]
    for number, path, asked, folder in kept:
        module = _laid(module, path, folder, f"runtime-{number}", asked["scale"])
    if len(kept) > 1:
        module.base_model.set_adapter([f"runtime-{number}" for number, *_ in kept])
    return module.eval()


def facts_of(path: str, asked: Inputs, folder: Path) -> dict[str, Any]:
    """For the result: which adapter it really was."""
    name = asked["name"] or asked["id"] or asked["path"] or asked["taskId"] or asked["url"] or path
    return {"name": name, "apply": asked["apply"], "scale": asked["scale"], "sha256": sha256_of(folder / _WEIGHTS)}


def _laid(module: Any, path: str, folder: Path, name: str, scale: float) -> Any:
    import peft

    try:
        if isinstance(module, peft.PeftModel):
            module.load_adapter(folder, adapter_name=name)
        else:
            module = peft.PeftModel.from_pretrained(module, folder, adapter_name=name)
    except (RuntimeError, ValueError, KeyError, TypeError) as error:
        raise Failed(f"{path}: the adapter {folder.name} does not fit the model: {first_line(error)}") from error
    for layer in module.modules():
        if isinstance(layer, peft.tuners.lora.LoraLayer) and name in layer.scaling:
            layer.scaling[name] *= scale
    return module
