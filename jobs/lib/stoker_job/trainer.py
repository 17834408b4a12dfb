"""Gradient training that can be stopped, killed and gone on with at any batch, alone or by several ranks.

What a step does depends on the weights, the optimiser and its own number, and on nothing that happened before: the
order of an epoch and the random numbers of a step are drawn from seeds made of the job's seed and those numbers. So a
checkpoint is weights, optimiser and position, and going on from it is the same as never having stopped.
"""

import math
import time
from dataclasses import asdict
from typing import Any

import emit
import torch
from torch.nn import functional

from . import checkpoints, stop
from .data import Dataset
from .models import Classifier
from .plan import Plan, Position, mixed, optimizer_of
from .problems import Failed
from .ranks import Ranks

_EVALUATION_ROWS = 512
_CHECKPOINT_SECONDS = 60
_PROGRESS_SECONDS = 0.25
_FIRST_PERCENT, _LAST_PERCENT = 5, 95


class Trainer:
    """Trains one classifier on one dataset."""

    def __init__(self, model: Classifier, data: Dataset, plan: Plan, ranks: Ranks, identity: dict[str, Any]) -> None:
        self.plan, self.ranks, self.model = plan, ranks, model
        self.module = model.module.to(ranks.device)
        self.labels = (data.train.labels, data.held_out.labels)
        self.items = (model.encode(data.train.items), model.encode(data.held_out.items))
        self.optimizer = optimizer_of(self.module, plan)
        self.batches = math.ceil(len(data.train) / plan.batch_size)
        self.identity = {**identity, **plan.facts()}
        self.at = Position()
        self.resumed_from: dict[str, Any] | None = None
        self._saved, self._told = time.monotonic(), 0.0

    def run(self) -> list[dict[str, float]]:
        """All epochs that are left; the metrics of all, those before a resume included."""
        self._resume()
        with stop.deferred():
            while self.at.epoch < self.plan.epochs:
                self._epoch()
        return self.at.history

    def evaluate(self) -> tuple[float, float]:
        """Mean loss and share of right answers on the held-out examples."""
        self.module.eval()
        sums = torch.zeros(2, dtype=torch.float64)
        with torch.inference_mode():
            count = len(self.labels[1])
            for start in range(self.ranks.rank * _EVALUATION_ROWS, count, self.ranks.count * _EVALUATION_ROWS):
                self._leave_if_alone()
                rows = torch.arange(start, min(start + _EVALUATION_ROWS, count))
                loss, hits = self._forward(1, rows)
                sums += torch.stack([loss, hits]).double().cpu()
        loss, hits = (self.ranks.sum(sums.to(self._sum_device())) / count).tolist()
        return loss, hits

    def state(self) -> dict[str, Any]:
        """All that is needed to go on from here."""
        return {"identity": self.identity, "position": asdict(self.at), "model": self.module.state_dict(), "optimizer": self.optimizer.state_dict()}

    def _resume(self) -> None:
        found = checkpoints.read(self.identity)
        if found is None:
            return
        state, file = found
        self.at = Position(**state["position"])
        self.module.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.resumed_from = {"path": str(file), "step": self._step_number()}
        emit.log(f"going on from {file.name}: epoch {self.at.epoch + 1}, batch {self.at.batch + 1}")

    def _epoch(self) -> None:
        order = torch.randperm(len(self.labels[0]), generator=torch.Generator().manual_seed(mixed(self.plan.seed, self.at.epoch)))
        self.module.train()
        while self.at.batch < self.batches:
            start = self.at.batch * self.plan.batch_size
            is_asked = self._step(order[start : start + self.plan.batch_size])
            self._tell()
            if is_asked or self._is_due():
                self._save()
            if is_asked:
                stop.leave()
        self._end_epoch(len(order))

    def _step(self, rows: torch.Tensor) -> bool:
        """One batch over all ranks; tells whether one of them was asked to stop, so that all stop at the same batch."""
        torch.manual_seed(mixed(self.plan.seed, self._step_number(), self.ranks.rank))
        self.optimizer.zero_grad()
        own = rows[self.ranks.rank :: self.ranks.count]
        loss, hits = self._forward(0, own) if len(own) else (torch.zeros((), device=self.ranks.device),) * 2
        if len(own):
            (loss / len(rows)).backward()
        asked = torch.full((), float(stop.is_asked()), device=self.ranks.device)
        loss_sum, hit_sum, is_asked = self._exchange([loss.detach(), hits, asked])
        if not math.isfinite(loss_sum):
            raise Failed(self._sentence(f"the loss is {loss_sum / len(rows)}"))
        for group in self.optimizer.param_groups:
            group["lr"] = self.plan.rate_at(self._part())
        self.optimizer.step()
        self.at.loss += loss_sum
        self.at.hits += hit_sum
        self.at.batch += 1
        return is_asked > 0

    def _exchange(self, sums: list[torch.Tensor]) -> list[float]:
        """Gradients and sums travel in one call."""
        if self.ranks.count == 1:
            return [one.item() for one in sums]
        gradients = [one.grad if one.grad is not None else torch.zeros_like(one) for one in self.module.parameters()]
        flat = self.ranks.sum(torch.cat([one.reshape(-1) for one in [*gradients, *sums]]))
        start = 0
        for parameter, gradient in zip(self.module.parameters(), gradients, strict=True):
            parameter.grad = flat[start : start + gradient.numel()].view_as(gradient)
            start += gradient.numel()
        return flat[start:].tolist()

    def _forward(self, part: int, rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        given = [one[rows].to(self.ranks.device) for one in self.items[part]]
        wanted = self.labels[part][rows].to(self.ranks.device)
        logits = self.module(*given)
        loss = functional.cross_entropy(logits, wanted, reduction="sum")
        return loss, (logits.argmax(1) == wanted).sum().float()

    def _end_epoch(self, count: int) -> None:
        train_loss, train_accuracy = self.at.loss / count, self.at.hits / count
        chance = math.log(len(self.model.classes))
        if train_loss > 2 * chance:
            raise Failed(self._sentence(f"training diverges: the loss is {train_loss:.3g}, guessing has {chance:.3g}"))
        loss, accuracy = self.evaluate()
        epoch = self.at.epoch + 1
        metrics = {"epoch": epoch, "loss": loss, "accuracy": accuracy, "trainLoss": train_loss, "trainAccuracy": train_accuracy}
        emit.progress(self._percent(), f"epoch {epoch}/{self.plan.epochs}, {100 * accuracy:.2f} % right on held-out examples", **metrics)
        self.at = Position(epoch=epoch, history=[*self.at.history, metrics])
        self._save()
        if stop.is_asked():
            stop.leave()

    def _sentence(self, what: str) -> str:
        where = f"epoch {self.at.epoch + 1}, batch {min(self.at.batch + 1, self.batches)}"
        return f"{what} in {where}, with learning_rate {self.plan.learning_rate:g}: lower it, or look for broken values in the dataset"

    def _step_number(self) -> int:
        return self.at.epoch * self.batches + self.at.batch

    def _part(self) -> float:
        return self._step_number() / (self.plan.epochs * self.batches)

    def _percent(self) -> float:
        return round(_FIRST_PERCENT + self._part() * (_LAST_PERCENT - _FIRST_PERCENT), 2)

    def _tell(self) -> None:
        """First and last batch of an epoch always, the others a few times a second; with what was right of the held-out examples last."""
        now = time.monotonic()
        if 1 < self.at.batch < self.batches and now - self._told < _PROGRESS_SECONDS:
            return
        self._told = now
        seen = min(self.at.batch * self.plan.batch_size, len(self.labels[0]))
        right = f", {100 * self.at.history[-1]['accuracy']:.1f} % right" if self.at.history else ""
        operation = f"epoch {self.at.epoch + 1}/{self.plan.epochs}, batch {self.at.batch}/{self.batches}{right}"
        emit.progress(self._percent(), operation, trainLoss=self.at.loss / seen, trainAccuracy=self.at.hits / seen)

    def _leave_if_alone(self) -> None:
        """A long evaluation is no reason to outlast the grace; several ranks wait for the end of it, to stay together."""
        if stop.is_asked() and self.ranks.count == 1:
            self._save()
            stop.leave()

    def _is_due(self) -> bool:
        if self.plan.checkpoint_every:
            return self.at.batch % self.plan.checkpoint_every == 0
        return time.monotonic() - self._saved > _CHECKPOINT_SECONDS

    def _save(self) -> None:
        if self.ranks.is_first:
            checkpoints.write(self.state(), self._step_number())
        self._saved = time.monotonic()

    def _sum_device(self) -> torch.device:
        return self.ranks.device if self.ranks.count > 1 else torch.device("cpu")
