"""What answers prompts, whichever library it is made with."""

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from reader import Answer, Hear
from sampling import Sampling
from stoker_job.problems import Refused


class Engine(Protocol):
    """A loaded model; `name` is the one that was asked for, `window` the most tokens of prompt and answer together."""

    @property
    def name(self) -> str: ...

    @property
    def tokenizer(self) -> Any: ...

    @property
    def facts(self) -> dict[str, Any]: ...

    @property
    def window(self) -> int: ...

    def answers(self, prompts: Sequence[list[int]], sampling: Sampling, size: int, hear: Hear) -> Iterator[tuple[int, Answer]]:
        """Each answer with the number of its prompt, in the order in which they are ready; `hear` gets the pieces of one that is alone."""
        ...

    def engine_facts(self) -> dict[str, Any]:
        """Engine and device, for the result."""
        ...


def encoded(engine: Engine, where: str, text: str, has_special: bool = True) -> list[int]:
    """The tokens of a prompt; one that leaves no room for an answer is refused."""
    tokens = engine.tokenizer(text, add_special_tokens=has_special)["input_ids"]
    return with_room(engine, where, tokens)


def with_room(engine: Engine, where: str, tokens: list[int]) -> list[int]:
    if not tokens:
        raise Refused(f"{where} is empty, a model needs at least one token to begin with")
    if len(tokens) >= engine.window:
        raise Refused(f"{where} has {len(tokens)} tokens, the model {engine.name} has room for {engine.window} with its answer")
    return tokens
