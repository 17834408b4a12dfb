"""Proximal policy optimisation that can be stopped, killed and gone on with at any step, alone or by several ranks.

What a step does depends on the weights, the optimiser and its own number: its prompts and random numbers come from the
seed. So a checkpoint is weights, optimiser and number, and going on from it is the same as never having stopped.
"""

import math
from typing import Any

import emit
import objective
import torch
from plan import Plan
from policy import Answers, Policy
from rewards import Rewards
from stoker_job import checkpoints, stop
from stoker_job.plan import mixed
from stoker_job.problems import Failed
from stoker_job.ranks import Ranks

_MOST_GRADIENT = 1.0
_MOST_DRIFT = 20.0


class Learner:
    """Teaches one policy by one kind of rewards."""

    def __init__(self, policy: Policy, rewards: Rewards, prompts: list[str], plan: Plan, ranks: Ranks, identity: dict[str, Any]) -> None:
        self.policy, self.rewards, self.prompts, self.plan, self.ranks, self.identity = policy, rewards, prompts, plan, ranks, identity
        self.optimizer = torch.optim.AdamW(policy.parameters(), plan.training["learning_rate"], weight_decay=0.0)
        self.steps = plan.steps_for(len(prompts), ranks.count)
        self.step, self.history = 0, []
        self.resumed_from: dict[str, Any] | None = None

    def run(self) -> list[dict[str, float]]:
        """All steps that are left; the figures of all, those before a resume included."""
        self._resume()
        with stop.deferred():
            while self.step < self.steps:
                self._one()
                is_asked = self.ranks.sum(torch.tensor(float(stop.is_asked()), device=self.ranks.device)).item() > 0
                if is_asked or self.step % self.plan.save_every == 0 or self.step == self.steps:
                    self._save()
                if is_asked:
                    stop.leave()
        return self.history

    def _one(self) -> None:
        seed = self.plan.training["seed"]
        torch.manual_seed(mixed(seed, self.step, self.ranks.rank))
        answers = self.policy.draw([self.prompts[number] for number in self._numbers()])
        scores = self.rewards.of(self.policy.texts(answers))
        with torch.no_grad():
            old, values = self.policy.judged(answers)
            drift = old - self.policy.judged(answers, is_start=True)[0]
        worth = objective.token_rewards(scores, drift, answers.mask, self.plan.training["kl_coef"])
        gains = objective.advantages(worth, values, answers.mask)
        returns, gains = gains + values, objective.whitened(gains, answers.mask, self.ranks.sum)
        losses = self._learn(answers, old, values, returns, gains)
        self.step += 1
        self._tell(scores, (drift * answers.mask).sum(1), answers.mask.sum(1), losses)

    def _numbers(self) -> list[int]:
        """Which prompts: every pass over them in an order of its own, shared out among the ranks."""
        count, size = len(self.prompts), self.plan.batch_size
        first = (self.step * self.ranks.count + self.ranks.rank) * size
        orders: dict[int, list[int]] = {}
        for place in range(first, first + size):
            turn = place // count
            if turn not in orders:
                source = torch.Generator().manual_seed(mixed(self.plan.training["seed"], turn))
                orders[turn] = torch.randperm(count, generator=source).tolist()
        return [orders[place // count][place % count] for place in range(first, first + size)]

    def _learn(self, answers: Answers, old: torch.Tensor, values: torch.Tensor, returns: torch.Tensor, gains: torch.Tensor) -> list[float]:
        """Several passes over the drawn answers; ends early when the policy went further than `target_kl` allows."""
        losses = [0.0, 0.0]
        for turn in range(self.plan.training["ppo_epochs"]):
            source = torch.Generator().manual_seed(mixed(self.plan.training["seed"], self.step, turn))
            order = torch.randperm(self.plan.batch_size, generator=source)
            for rows in order.split(self.plan.mini_batch_size):
                *losses, apart = self._update(rows, answers, old, values, returns, gains)
                if self.plan.training["target_kl"] and apart > 1.5 * self.plan.training["target_kl"]:
                    return losses
        return losses

    def _update(self, rows: torch.Tensor, answers: Answers, old: torch.Tensor, values: torch.Tensor, returns: torch.Tensor, gains: torch.Tensor) -> list[float]:
        tokens = self.ranks.sum(answers.mask[rows].sum())
        sums = torch.zeros(3, device=self.ranks.device)
        self.optimizer.zero_grad()
        for part in rows.chunk(self.plan.training["gradient_accumulation_steps"]):
            own, mask = answers.some(part), answers.mask[part]
            new, foreseen = self.policy.judged(own)
            losses = objective.policy_loss(new, old[part], gains[part], mask), objective.value_loss(foreseen, values[part], returns[part], mask)
            (sum(losses) / tokens).backward()
            sums += torch.stack([*losses, objective.distance(new, old[part], mask)]).detach()
        policy, value, apart = (self.ranks.sum(sums) / tokens).tolist()
        if not math.isfinite(policy + value):
            raise Failed(self._sentence(f"the loss is {policy + value}", self.step + 1))
        self._share_gradients()
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), _MOST_GRADIENT)
        for group in self.optimizer.param_groups:
            group["lr"] = self._rate()
        self.optimizer.step()
        return [policy, value, apart]

    def _share_gradients(self) -> None:
        if self.ranks.count > 1:
            for parameter in self.policy.parameters():
                parameter.grad = self.ranks.sum(parameter.grad if parameter.grad is not None else torch.zeros_like(parameter))

    def _rate(self) -> float:
        return self.plan.training["learning_rate"] * min(1.0, (self.step + 1) / (self.plan.training["warmup_steps"] + 1))

    def _tell(self, scores: torch.Tensor, drift: torch.Tensor, tokens: torch.Tensor, losses: list[float]) -> None:
        sums = torch.stack([scores.sum(), drift.sum(), tokens.sum(), torch.tensor(float(len(scores)), device=scores.device)])
        reward, apart, length, count = self.ranks.sum(sums).tolist()
        figures = {
            "reward": reward / count, "kl": apart / count, "answer_tokens": length / count, "policy_loss": losses[0], "value_loss": losses[1],
            "learning_rate": self.optimizer.param_groups[0]["lr"],
        }  # fmt: skip
        self.history.append({"step": self.step, **figures})
        emit.progress(round(5 + 85 * self.step / self.steps, 2), f"step {self.step}/{self.steps}", **figures)
        if apart / length > _MOST_DRIFT:
            raise Failed(self._sentence(f"training diverges: the answers are {apart / length:.3g} nats for each token away from the model it began with", self.step))

    def _sentence(self, what: str, step: int) -> str:
        wanted = self.plan.training
        return f"{what} in step {step}, with training.learning_rate {wanted['learning_rate']:g} and training.kl_coef {wanted['kl_coef']:g}: lower the first or raise the second"

    def _resume(self) -> None:
        found = checkpoints.read(self.identity)
        if found is None:
            return
        state, file = found
        self.step, self.history = state["step"], state["history"]
        self.policy.model.load_state_dict(state["model"])
        self.policy.head.load_state_dict(state["head"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.resumed_from = {"path": str(file), "step": self.step}
        emit.log(f"going on from {file.name}: step {self.step + 1}")

    def _save(self) -> None:
        if self.ranks.is_first:
            state = {"identity": self.identity, "step": self.step, "history": self.history}
            weights = {"model": self.policy.model.state_dict(), "head": self.policy.head.state_dict(), "optimizer": self.optimizer.state_dict()}
            checkpoints.write({**state, **weights}, self.step)
