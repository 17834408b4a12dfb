"""From prompts to a model that earns more, and to what is told about it."""

import os
import time
from pathlib import Path
from typing import Any

import emit
from learner import Learner
from plan import Plan
from policy import Policy
from rewards import Rewards
from stoker_job import checkpoints
from stoker_job.artifacts import outputs, write_json
from stoker_job.locate import locate
from stoker_job.model_source import weights_sha256
from stoker_job.ranks import Ranks, joined
from stoker_job.repeatable import be_repeatable
from stoker_job.tuning import final
from stoker_job.tuning.data import Learned
from stoker_job.tuning.language_model import Started, start_model
from stoker_job.tuning.results import documented, plan_of, thinned
from stoker_job.tuning.wishes import Wishes

_NAME = "final_model"


def train(wishes: Wishes, plan: Plan, data: Learned) -> dict[str, Any]:
    be_repeatable()
    _name_checkpoint(wishes.training["resume_from_path"])
    started = start_model(wishes)
    with joined() as ranks:
        learner = _learner(wishes, plan, data, started, ranks)
        emit.progress(5, f"learning from {len(data)} prompts")
        began = time.monotonic()
        history = learner.run()
        seconds = time.monotonic() - began
        if ranks.is_first:
            _leave_files(learner, wishes, started, data)
        return {**documented(wishes, started, data, _NAME, seconds, None), **_own(learner, wishes, started, data, history)}


def _learner(wishes: Wishes, plan: Plan, data: Learned, started: Started, ranks: Ranks) -> Learner:
    rewards = Rewards(wishes.own["reward_model"], ranks.device)
    policy = Policy(started, wishes.own["generation"], ranks, wishes.training)
    if wishes.training["gradient_checkpointing"]:
        policy.model.gradient_checkpointing_enable()
    own = {"reward_model": rewards.facts, "generation": wishes.own["generation"], **plan_of(wishes)}
    identity = {"type": wishes.kind, "model": started.facts, "dataset": data.sha256(), "ranks": ranks.count, **own}
    return Learner(policy, rewards, [row["prompt"] for row in data.rows], plan, ranks, identity)


def _name_checkpoint(named: str | None) -> None:
    """A later attempt of the same job has a newer one than the job itself could name."""
    if named and not os.environ.get("RESUME_FROM"):
        os.environ["RESUME_FROM"] = str(locate("training.resume_from_path", named, None))


def _leave_files(learner: Learner, wishes: Wishes, started: Started, data: Learned) -> None:
    emit.progress(90, "writing the model")
    if wishes.training["save_model"]:
        final.leave(_NAME, lambda folder: _save(learner, folder))
    metrics = {"plan": {**wishes.own, **plan_of(wishes)}, "dataset": data.facts(), "model": started.facts, "steps": learner.history}
    write_json(outputs() / "metrics.json", metrics)
    checkpoints.remove_all()


def _save(learner: Learner, folder: Path) -> None:
    learner.policy.model.save_pretrained(folder)
    learner.policy.tokenizer.save_pretrained(folder)


def _own(learner: Learner, wishes: Wishes, started: Started, data: Learned, history: list[dict[str, float]]) -> dict[str, Any]:
    windows = _averages(history, wishes.training["logging_steps"])
    is_saved = wishes.training["save_model"] and learner.ranks.is_first
    return {
        **learner.ranks.facts(),
        "dataset": data.facts(),
        "model": started.facts,
        "rewardModel": learner.rewards.facts,
        "weightsSha256": weights_sha256(outputs() / _NAME) if is_saved else None,
        "steps": learner.step,
        "firstReward": windows[0]["reward"],
        "finalReward": windows[-1]["reward"],
        "finalKl": windows[-1]["kl"],
        "trainingMetrics": thinned(windows),
        "resumedFrom": learner.resumed_from,
    }


def _averages(history: list[dict[str, float]], every: int) -> list[dict[str, float]]:
    """Rewards of single steps jump: they are told as means over `logging_steps` of them."""
    parts = [history[start : start + every] for start in range(0, len(history), every)]
    return [{name: part[-1]["step"] if name == "step" else sum(row[name] for row in part) / len(part) for name in part[0]} for part in parts]
