"""Tasks of the OpenAI endpoint: chat, completion and embedding by the model of the session, which stays loaded."""

import json
import os
from typing import Any

import emit
from chat import messages_of, rendered
from engine import Engine, encoded, with_room
from request import asked_of, sampling_asked
from stoker_job.inputs import Inputs
from stoker_job.model_source import given_folder
from stoker_job.problems import Refused

KINDS = ("chat", "completion", "embedding")
_WHOLE_CHARACTERS = 30_000


def prepare() -> None:
    """Before the session says that it is ready, so that the first one who asks does not wait for the model."""
    folder = given_folder()
    is_given = folder is not None and (folder / "config.json").is_file()
    if is_given or os.environ.get("MODEL_SPEC") or (folder is None and "/" in os.environ.get("MODEL_NAME", "")):
        from session_model import load

        load()


def serve(task: dict[str, Any]) -> dict[str, Any]:
    """The answer as the endpoint wants it: pieces of text while they come, then usage and the reason of the end."""
    kind = task["kind"]
    if kind not in KINDS:
        raise Refused(f"kind is {json.dumps(kind)}, this program serves {', '.join(KINDS)}")
    asked = asked_of(kind, task)
    if kind == "embedding":
        return _embedded(asked)
    return _written(kind, asked)


def _embedded(asked: Inputs) -> dict[str, Any]:
    from embed import packed
    from session_model import encoder

    model = encoder()
    inputs = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
    if not inputs:
        raise Refused("input is an empty list, at least one text is needed")
    tokens = [model.tokens(f"input[{number}]", one) for number, one in enumerate(inputs)]
    vectors = model.vectors(tokens)
    if asked["dimensions"] not in (None, vectors.shape[1]):
        raise Refused(f"dimensions is {asked['dimensions']}, the vectors of {model.name} have {vectors.shape[1]}")
    return {
        "ok": True,
        "model": model.name,
        "embeddings": packed(vectors),
        "dimensions": vectors.shape[1],
        "usage": _usage(sum(len(one) for one in tokens), 0),
        "engine": "transformers",
        "device": str(model.module.device),
    }


def _written(kind: str, asked: Inputs) -> dict[str, Any]:
    from session_model import language

    engine = language()
    tokens = _tokens(engine, kind, asked)
    sampling = sampling_asked(asked, engine.tokenizer)
    ((_, answer),) = engine.answers([tokens], sampling, 1, emit.text_delta)
    is_short = len(answer.text) <= _WHOLE_CHARACTERS
    if is_short:
        emit.text(answer.text)
    return {
        "ok": True,
        "model": engine.name,
        **({"output": answer.text} if is_short else {}),
        "finish_reason": answer.finish_reason,
        "usage": _usage(answer.prompt_tokens, answer.completion_tokens),
        "inference": sampling.facts(),
        **engine.facts,
        **engine.engine_facts(),
    }


def _usage(prompt: int, completion: int) -> dict[str, int]:
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _tokens(engine: Engine, kind: str, asked: Inputs) -> list[int]:
    if kind == "chat":
        messages = messages_of(asked["messages"], asked["system_prompt"])
        return encoded(engine, "messages", rendered(engine.tokenizer, messages), has_special=False)
    prompt = asked["prompt"]
    if isinstance(prompt, str):
        return encoded(engine, "prompt", prompt)
    if not isinstance(prompt, list) or not all(isinstance(one, int) and 0 <= one < len(engine.tokenizer) for one in prompt):
        raise Refused("prompt is neither a text nor a list of tokens of the model")
    return with_room(engine, "prompt", prompt)
