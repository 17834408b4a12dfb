"""Reads one answer token by token: the text so far, what of it can be told, and where it ends.

Told is only what later tokens cannot change: half of a character that takes several tokens is held back, and so is
the beginning of a text that may become a stop text.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Hear = Callable[[str], None]
_HALF = "\ufffd"


@dataclass(frozen=True)
class Answer:
    """`finish_reason` is stop where the model or a stop text ended it, length where the room did."""

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int


class Reader:
    """Takes the tokens of one answer and tells its text in pieces that together are the answer."""

    def __init__(self, tokenizer: Any, prompt_tokens: int, ends: Sequence[int], stops: Sequence[str], hear: Hear) -> None:
        self._tokenizer, self._ends, self._stops, self._hear = tokenizer, frozenset(ends), stops, hear
        self._prompt_tokens = prompt_tokens
        self._tokens: list[int] = []
        self._settled, self._read = 0, 0
        self._text, self._told = "", 0
        self._is_cut = False
        self.is_done = False

    def take(self, token: int) -> None:
        """The next token; nothing counts after the end."""
        if self.is_done:
            return
        self._tokens.append(token)
        if token in self._ends:
            self.is_done = True
            return
        self._decode()
        self._look_for_stop()
        if not self.is_done:
            self._tell(len(self._text) - self._held_back())

    def answer(self) -> Answer:
        """When there will be no more tokens."""
        if not self._is_cut:
            self._decode(is_last=True)
            self._look_for_stop()
        self._tell(len(self._text))
        return Answer(self._text, "stop" if self.is_done else "length", self._prompt_tokens, len(self._tokens))

    def _decode(self, is_last: bool = False) -> None:
        """Only the newest tokens are decoded, with some before them, because a tokenizer joins tokens as neighbours."""
        tokens = self._tokens[:-1] if self._tokens and self._tokens[-1] in self._ends else self._tokens
        before = self._decoded(tokens[self._settled : self._read])
        now = self._decoded(tokens[self._settled :])
        if len(now) <= len(before) or (now.endswith(_HALF) and not is_last):
            return
        self._text += now[len(before) :]
        self._settled, self._read = self._read, len(tokens)

    def _decoded(self, tokens: list[int]) -> str:
        return self._tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False) if tokens else ""

    def _look_for_stop(self) -> None:
        found = [at for stop in self._stops if (at := self._text.find(stop, max(0, self._told - len(stop)))) >= 0]
        if found:
            self._text = self._text[: min(found)]
            self._is_cut = self.is_done = True

    def _held_back(self) -> int:
        most = max((len(stop) - 1 for stop in self._stops), default=0)
        for length in range(min(most, len(self._text) - self._told), 0, -1):
            if any(stop.startswith(self._text[-length:]) for stop in self._stops):
                return length
        return 0

    def _tell(self, until: int) -> None:
        if until > self._told:
            self._hear(self._text[self._told : until])
            self._told = until
