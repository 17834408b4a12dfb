"""Where the model, its tuned weights and its adapters are. Found before any library is imported: what is missing is told at once."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from model_asked import ModelAsked
from stoker_job.adapters import CONFIG as ADAPTER_CONFIG
from stoker_job.adapters import check_folder, facts_of, placed
from stoker_job.inputs import Inputs
from stoker_job.model_source import Source, check_readable, source_of, weights_sha256
from stoker_job.weights_load import loaded_folder


@dataclass(frozen=True)
class Places:
    """`name` is what was asked for; `facts` say which weights answer in the end."""

    name: str
    weights: Source
    tokenizer: Source
    adapters: list[tuple[str, Inputs, Path]]
    facts: dict[str, Any]


def places_of(asked: ModelAsked) -> Places:
    """The named model, or the tuned weights of `checkpoint.load` in its place."""
    trusts = asked.trusts_code or asked.transformers["trust_remote_code"]
    tuned = None if asked.checkpoint is None else loaded_folder(asked.checkpoint)
    if tuned is not None:
        check_readable("checkpoint.load", tuned)
    is_adapter = tuned is not None and (tuned / ADAPTER_CONFIG).is_file()
    is_whole = tuned is not None and not is_adapter and (tuned / "tokenizer_config.json").is_file()
    if tuned is not None and is_whole and asked.identifier is None:
        base = Source(str(asked.checkpoint["path"] or tuned.name), str(tuned), None, trusts)
    else:
        base = source_of("model", asked.identifier, asked.sha256, asked.revision, trusts)
    found = placed(asked.adapters)
    facts: dict[str, Any] = {"adapters": [facts_of(*one) for one in found]} if found else {}
    if tuned is None:
        return Places(base.name, base, base, found, facts)
    if is_adapter:
        check_folder("checkpoint.load", tuned)
        found = [("checkpoint.load", Inputs({"apply": "merge", "scale": 1.0}), tuned), *found]
    facts["checkpoint"] = {"folder": tuned.name, "kind": "adapter" if is_adapter else "model", "sha256": weights_sha256(tuned)}
    weights = base if is_adapter else replace(base, place=str(tuned), revision=None, is_local=True)
    return Places(base.name, weights, weights if is_whole else base, found, facts)
