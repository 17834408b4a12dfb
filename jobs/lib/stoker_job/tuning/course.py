"""What a transformers Trainer does while it trains: it tells, keeps checkpoints, stops when asked, and never goes on with nonsense."""

import math
import time
from pathlib import Path
from typing import Any

import emit
import torch
from torch import distributed
from transformers import TrainerCallback

from .. import stop
from ..problems import Failed
from ..ranks import Ranks
from . import kept

_FIRST_PERCENT, _LAST_PERCENT = 5, 90
_PROGRESS_SECONDS = 0.25
_NAMES = {
    "rewards/margins": "margin", "rewards/accuracies": "accuracy", "rewards/chosen": "chosen_reward", "rewards/rejected": "rejected_reward",
    "mean_token_accuracy": "token_accuracy",
}  # fmt: skip
_PLAIN = ("loss", "learning_rate", "grad_norm", "epoch")


class Course(TrainerCallback):
    """One run of a Trainer. `limit` is the loss above which training has gone astray."""

    def __init__(self, ranks: Ranks, identity: dict[str, Any], limit: float, rate: float) -> None:
        self.ranks, self.identity, self.limit, self.rate = ranks, identity, limit, rate
        self.is_stopping = False
        self._told, self._loss = 0.0, 0.0
        self._first: float | None = None

    def saw(self, loss: torch.Tensor, step: int) -> None:
        """Called with every part of the loss of a step, before the weights move."""
        self._loss += loss.item()
        if not math.isfinite(self._loss):
            raise Failed(f"the loss is {self._loss} in step {step + 1}, {self._advice()}")

    def on_step_end(self, _args: Any, state: Any, control: Any, **_: Any) -> None:
        now = time.monotonic()
        if state.global_step in (1, state.max_steps) or now - self._told > _PROGRESS_SECONDS:
            self._told = now
            emit.progress(_percent(state), f"step {state.global_step}/{state.max_steps}", loss=self._loss)
        self._loss = 0.0
        self.is_stopping = self._is_asked()
        if self.is_stopping:
            control.should_save = control.should_training_stop = True

    def on_log(self, _args: Any, state: Any, _control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        if logs is None or "loss" not in logs:
            return
        values = measured(logs)
        emit.progress(_percent(state), f"step {state.global_step}/{state.max_steps}", **values)
        self._first = values["loss"] if self._first is None else self._first
        if not values["loss"] <= max(self.limit, 2 * self._first):
            raise Failed(f"training diverges: the loss is {values['loss']:.3g} in step {state.global_step}, it began with {self._first:.3g}; {self._advice()}")

    def on_save(self, args: Any, state: Any, _control: Any, **_: Any) -> None:
        if self.ranks.count > 1:
            distributed.barrier()
        if self.ranks.is_first:
            kept.keep(Path(args.output_dir) / f"checkpoint-{state.global_step}", state.global_step, self.identity)

    def _is_asked(self) -> bool:
        """All ranks stop at the same step, whichever of them was asked."""
        return self.ranks.sum(torch.tensor(float(stop.is_asked()), device=self.ranks.device)).item() > 0

    def _advice(self) -> str:
        return f"with training.learning_rate {self.rate:g}: lower it, or look for broken texts in the data"


def watched(kind: type, course: Course) -> type:
    """A Trainer whose every loss is seen before it changes the weights."""

    class Watched(kind):  # type: ignore[misc, valid-type]
        def training_step(self, *given: Any, **named: Any) -> torch.Tensor:
            loss = super().training_step(*given, **named)
            course.saw(loss, self.state.global_step)
            return loss

    Watched.__name__ = kind.__name__
    return Watched


def measured(logs: dict[str, float]) -> dict[str, float]:
    """The figures of a log line under names of one word."""
    plain = {name: float(logs[name]) for name in _PLAIN if name in logs}
    return {**plain, **{short: float(logs[name]) for name, short in _NAMES.items() if name in logs}}


def _percent(state: Any) -> float:
    return round(_FIRST_PERCENT + (_LAST_PERCENT - _FIRST_PERCENT) * state.global_step / max(1, state.max_steps), 2)
