"""The model of a session: that of MODEL_SPEC, which is written as `model` of a template, at MODEL_PATH, or by MODEL_NAME."""

import functools
import json
import os
from typing import Any

import transformers
from embed import Encoder, encoder_in, open_encoder
from engine import Engine
from kept import kept
from language import LanguageModel
from model_asked import ModelAsked, model_asked
from open_engine import opened
from stoker_job.model_source import Source, given_folder, source_of
from stoker_job.problems import Failed, Refused, first_line

_WRITES = ("ForCausalLM", "LMHeadModel")
_CLASSIFIES = ("ForSequenceClassification",)


def load() -> None:
    """What the model's own config says it is: one that writes, or one that tells vectors. A classifier waits for its first task."""
    if _writes():
        language()
    elif not _is_built_for(_CLASSIFIES):
        encoder()


def language() -> Engine:
    if not _writes():
        raise Refused(f"the model {_source().name} does not write: its config names none that ends with {_WRITES[0]}")
    return opened(_asked())


def encoder() -> Encoder:
    """Of a language model its inner layers, so that one loaded model serves both."""
    source = _source()
    if not _writes():
        return kept(["encoder", source.place, source.revision], source.name, lambda: open_encoder(source))
    engine = opened(_asked())
    if not isinstance(engine, LanguageModel):
        raise Refused(f"the model {engine.name} is loaded by vLLM to write: serve embeddings from a preset of their own with an encoder")
    return encoder_in(engine)


def _asked() -> ModelAsked:
    return model_asked(_spec())


def _spec() -> Any:
    text = os.environ.get("MODEL_SPEC")
    if text:
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise Refused(f"MODEL_SPEC is no JSON: {first_line(error)}") from error
    return None if given_folder() is not None else os.environ.get("MODEL_NAME") or None


@functools.cache
def _source() -> Source:
    asked = _asked()
    return source_of("model", asked.identifier, asked.sha256, asked.revision, asked.trusts_code)


def _writes() -> bool:
    return _is_built_for(_WRITES)


@functools.cache
def _is_built_for(ends: tuple[str, ...]) -> bool:
    source = _source()
    try:
        config = transformers.AutoConfig.from_pretrained(source.place, revision=source.revision, trust_remote_code=source.trusts_code, local_files_only=source.is_local)
    except (OSError, ValueError) as error:
        raise Failed(f"model {source.name} cannot be loaded: {first_line(error)}") from error
    return any(str(one).endswith(ends) for one in config.architectures or [])
