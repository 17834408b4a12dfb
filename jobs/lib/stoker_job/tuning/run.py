"""From wishes to a result, for the three programs that train with a Trainer of trl."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import emit
from transformers import PrinterCallback

from .. import stop
from ..artifacts import outputs, write_json
from ..model_source import weights_sha256
from ..ranks import Ranks, joined
from ..repeatable import be_repeatable
from . import final, kept
from .course import Course, measured, watched
from .data import Learned
from .language_model import Started, start_model
from .results import documented, plan_of, thinned
from .trainer_settings import settings_of
from .wishes import Wishes

@dataclass(frozen=True)
class Prepared:
    """What a Trainer is made of; `watch` makes its class tell and stop as these programs do."""

    started: Started
    settings: dict[str, Any]
    rows: datasets.Dataset
    watch: Callable[[type], type]


@dataclass(frozen=True)
class _Done:
    """A training that has ended well."""

    wishes: Wishes
    started: Started
    data: Learned
    ranks: Ranks
    name: str
    resumed: dict[str, Any] | None
    seconds: float
    history: list[dict[str, Any]]

    @property
    def is_saved(self) -> bool:
        return self.wishes.training["save_model"]


def tune(wishes: Wishes, data: Learned, name: str, limit: Callable[[int], float], trainer_of: Callable[[Prepared], Any]) -> dict[str, Any]:
    """Trains and leaves `name`, in one rank or in several."""
    be_repeatable()
    datasets.disable_progress_bars()
    started = start_model(wishes)
    with joined() as ranks:
        identity = {"type": wishes.kind, "model": started.facts, "dataset": data.sha256(), "ranks": ranks.count, **wishes.own, **plan_of(wishes)}
        course = Course(ranks, identity, limit(len(started.tokenizer)), wishes.training["learning_rate"])
        prepared = Prepared(started, settings_of(wishes, started.model, ranks), datasets.Dataset.from_list(data.rows), lambda kind: watched(kind, course))
        trainer = trainer_of(prepared)
        trainer.remove_callback(PrinterCallback)
        trainer.add_callback(course)
        resumed = kept.find(identity, wishes.training["resume_from_path"])
        resumed_from = {"path": str(resumed), "step": kept.step_of(resumed)} if resumed else None
        seconds = _train(trainer, len(data), resumed, course)
        history = [{"step": entry["step"], **measured(entry)} for entry in trainer.state.log_history if "loss" in entry]
        done = _Done(wishes, started, data, ranks, name, resumed_from, seconds, history)
        _leave_files(trainer, done)
        return {**documented(wishes, started, data, name, seconds, resumed), **_own(trainer, done)}


def _train(trainer: Any, examples: int, resumed: Path | None, course: Course) -> float:
    emit.progress(5, f"training on {examples} examples")
    began = time.monotonic()
    with stop.deferred():
        trainer.train(resume_from_checkpoint=str(resumed) if resumed else None)
    if course.is_stopping:
        stop.leave()
    return time.monotonic() - began


def _leave_files(trainer: Any, done: _Done) -> None:
    """Every rank has a part in saving where the weights are shared out; only the first writes."""
    emit.progress(90, "writing the model")
    if done.is_saved and done.ranks.is_first:
        final.leave(done.name, lambda folder: trainer.save_model(str(folder)))
    elif done.is_saved:
        trainer.save_model(str(final.part_of(done.name)))
    if done.ranks.is_first:
        metrics = {"plan": {**done.wishes.own, **plan_of(done.wishes)}, "dataset": done.data.facts(), "model": done.started.facts, "steps": done.history}
        write_json(outputs() / "metrics.json", metrics)
        kept.remove_all()


def _own(trainer: Any, done: _Done) -> dict[str, Any]:
    trained = sum(one.numel() for one in trainer.model.parameters() if one.requires_grad)
    return {
        **done.ranks.facts(),
        "engine": "trl",
        **done.wishes.own,
        "dataset": done.data.facts(),
        "model": {**done.started.facts, "trainedParameters": trained},
        "weightsSha256": weights_sha256(outputs() / done.name) if done.is_saved and done.ranks.is_first else None,
        "steps": trainer.state.global_step,
        "finalLoss": done.history[-1]["loss"] if done.history else None,
        "trainingMetrics": thinned(done.history),
        "deepspeed": trainer.args.deepspeed is not None,
        "resumedFrom": done.resumed,
    }
