"""How to learn from rewards, checked before anything heavy is imported."""

import math
from dataclasses import dataclass
from typing import Any

from stoker_job.inputs import Inputs, shown
from stoker_job.problems import Refused
from stoker_job.sections import section, stops
from stoker_job.tuning import fields

_SAVE_STEPS = 100


@dataclass(frozen=True)
class Plan:
    """`batch_size` answers of each rank make a step, `mini_batch_size` of them an update of the weights."""

    steps: int | None
    epochs: float
    batch_size: int
    mini_batch_size: int
    save_every: int
    training: Inputs

    def steps_for(self, examples: int, ranks: int) -> int:
        """As the job says, or as many as its epochs over the prompts take."""
        return self.steps or math.ceil(self.epochs * examples / (self.batch_size * ranks))


def plan_of(training: Inputs) -> Plan:
    """Refuses numbers that do not go together."""
    if training["steps"] and training["num_train_epochs"]:
        raise Refused(f"training.steps is {training['steps']} and training.num_train_epochs is {training['num_train_epochs']:g}, one of them says how long to train")
    if training["save_freq"] and training["save_steps"]:
        raise Refused(f"training.save_freq is {training['save_freq']} and training.save_steps is {training['save_steps']}, one of them says when to write checkpoints")
    batch_size = training["batch_size"]
    mini = _mini_batch_size(training, batch_size)
    if mini % training["gradient_accumulation_steps"]:
        raise Refused(f"training.gradient_accumulation_steps is {training['gradient_accumulation_steps']}, it must divide the mini batch of {mini}")
    return Plan(training["steps"], training["num_train_epochs"] or 1, batch_size, mini, training["save_freq"] or training["save_steps"] or _SAVE_STEPS, training)


def read_reward(inputs: Inputs) -> dict[str, Any]:
    """The model that gives rewards; there is no other one in its place."""
    given = inputs["reward_model"]
    reward = section("reward_model", {"identifier": given} if isinstance(given, str) else given, fields.REWARD)
    if not reward["identifier"]:
        raise Refused("reward_model.identifier is missing: name a folder of the job or a model of a hub")
    return dict(reward)


def read_generation(inputs: Inputs) -> dict[str, Any]:
    """How answers are drawn; without chance there is nothing to learn from."""
    generation = section("generation", inputs["generation"], fields.GENERATION)
    if not generation["do_sample"]:
        raise Refused("generation.do_sample is false, ppo learns from answers that are drawn at random")
    return {**generation, "stop": stops("generation.stop", generation["stop"])}


def _mini_batch_size(training: Inputs, batch_size: int) -> int:
    size, number = training["mini_batch_size"], training["num_mini_batches"]
    if size and number and size * number != batch_size:
        raise Refused(f"training.mini_batch_size is {size} and training.num_mini_batches is {number}, together they are not the batch_size of {batch_size}")
    if number and batch_size % number:
        raise Refused(f"training.num_mini_batches is {number}, it must divide training.batch_size, which is {batch_size}")
    mini = size or (batch_size // number if number else batch_size)
    if batch_size % mini:
        raise Refused(f"training.mini_batch_size is {shown(mini)}, it must divide training.batch_size, which is {batch_size}")
    return mini
