"""Loads exactly the model that was named, with transformers."""

from typing import Any

import transformers
from safetensors import SafetensorError

from .model_source import Source
from .problems import Failed, first_line, is_out_of_memory

_UNUSED = "pooler."
transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


def load_tokenizer(source: Source) -> Any:
    try:
        return transformers.AutoTokenizer.from_pretrained(source.place, **_from(source))
    except (OSError, ValueError, ImportError, TypeError) as error:
        raise Failed(f"model {source.name} has no tokenizer that can be loaded: {first_line(error)}") from error


def load_module(kind: Any, source: Source, options: dict[str, Any]) -> Any:
    """Only safetensors: pickled weights could run code. The library makes up what a file lacks; here that is a failure."""
    try:
        module, found = kind.from_pretrained(source.place, use_safetensors=True, output_loading_info=True, **_from(source), **options)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, SafetensorError) as error:
        if is_out_of_memory(error):
            raise
        raise Failed(f"model {source.name} cannot be loaded: {first_line(error)}") from error
    missing = sorted(name for name in {*found["missing_keys"], *found["mismatched_keys"]} if _UNUSED not in str(name))
    if missing:
        raise Failed(f"model {source.name} lacks the weights {', '.join(map(str, missing[:5]))}{' and others' if len(missing) > 5 else ''}, which its config.json asks for")
    return module.eval()


def _from(source: Source) -> dict[str, Any]:
    return {"revision": source.revision, "trust_remote_code": source.trusts_code, "local_files_only": source.is_local}
