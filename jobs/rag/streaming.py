"""What a model writes, told as it comes: never half a character, never a word that ends the answer."""

from collections.abc import Callable
from typing import Any

import torch
import transformers
from stoker_job import stop
from transformers.generation.streamers import BaseStreamer

_HALF = "\N{REPLACEMENT CHARACTER}"


class Told(BaseStreamer):
    """The pieces together are `text`."""

    def __init__(self, tokenizer: Any, stops: list[str], say: Callable[[str], None]) -> None:
        self.text, self.is_stopped = "", False
        self._say_piece = say
        self._tokenizer, self._stops, self._numbers = tokenizer, stops, None
        self._held = max((len(word) for word in stops), default=1) - 1

    def put(self, value: torch.Tensor) -> None:
        """The first that comes is the prompt."""
        if self._numbers is None:
            self._numbers = []
            return
        self._numbers += value.flatten().tolist()
        written = self._written()
        end = min((at for word in self._stops if (at := written.find(word)) >= 0), default=-1)
        self.is_stopped = self.is_stopped or end >= 0
        self._say(written[:end] if end >= 0 else written.rstrip(_HALF)[: len(written) - self._held])

    def end(self) -> None:
        if not self.is_stopped:
            self._say(self._written())

    def _written(self) -> str:
        return self._tokenizer.decode(self._numbers or [], skip_special_tokens=True)

    def _say(self, text: str) -> None:
        if len(text) > len(self.text):
            self._say_piece(text[len(self.text) :])
            self.text = text


class UntilAsked(transformers.StoppingCriteria):
    """Ends after the token that completes a stop word, and after a request to stop."""

    def __init__(self, told: Told) -> None:
        self._told = told

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        is_over = stop.is_asked() or self._told.is_stopped
        return torch.full((input_ids.shape[0],), is_over, device=input_ids.device, dtype=torch.bool)
