"""Teaches a language model to earn rewards."""

from typing import Any

from plan import plan_of, read_generation, read_reward
from stoker_job.inputs import Inputs
from stoker_job.tuning.data import Learned, prompts_wanted
from stoker_job.tuning.program import in_ranks
from stoker_job.tuning.wishes import read_wishes


def work(inputs: Inputs) -> dict[str, Any]:
    own = {"reward_model": read_reward(inputs), "generation": read_generation(inputs)}
    wishes, read = read_wishes("ppo", inputs, own), prompts_wanted(inputs["data"])
    plan = plan_of(wishes.training)

    def begin(data: Learned) -> dict[str, Any]:
        from train import train

        return train(wishes, plan, data)

    return in_ranks(wishes, read, begin)
