"""The engine that answers: vLLM where the job has GPUs and the package is there, else transformers."""

import importlib.util

from engine import Engine
from kept import kept
from model_asked import ModelAsked
from places import places_of


def opened(asked: ModelAsked) -> Engine:
    """Exactly the model asked for, loaded once for equal questions."""
    return kept(["language", asked.key], asked.identifier or "the model of the job", lambda: _open(asked))


def _open(asked: ModelAsked) -> Engine:
    places = places_of(asked)
    import torch

    if takes_vllm(asked, torch.cuda.device_count(), importlib.util.find_spec("vllm") is not None):
        from vllm_engine import open_vllm

        return open_vllm(asked, places)
    from language import open_language

    return open_language(asked, places)


def takes_vllm(asked: ModelAsked, devices: int, is_installed: bool) -> bool:
    """What only transformers can do is done by it: quantising while loading, a chosen place."""
    only_transformers = any(asked.transformers[name] for name in ("load_in_8bit", "load_in_4bit", "device_map"))
    return devices > 0 and is_installed and not asked.enforce_cpu and not only_transformers
