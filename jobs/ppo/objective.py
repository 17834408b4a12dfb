"""The mathematics of proximal policy optimisation; tensors are (answers, tokens), `mask` is 1 where a token was drawn."""

from collections.abc import Callable

import torch

_DISCOUNT, _SMOOTHING = 1.0, 0.95
_CLIP, _VALUE_CLIP, _VALUE_WEIGHT = 0.2, 0.2, 0.1

Sum = Callable[[torch.Tensor], torch.Tensor]


def token_rewards(scores: torch.Tensor, drift: torch.Tensor, mask: torch.Tensor, kl_coef: float) -> torch.Tensor:
    """What an answer is worth comes with its last token; every token pays for how far the model has gone from its start."""
    rewards = -kl_coef * drift * mask
    last = mask.sum(1).long() - 1
    return rewards.scatter_add(1, last.unsqueeze(1), scores.unsqueeze(1))


def advantages(rewards: torch.Tensor, values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Generalised advantage estimation, from the last token to the first."""
    found = torch.zeros_like(rewards)
    after, value_after = torch.zeros(len(rewards), device=rewards.device), torch.zeros(len(rewards), device=rewards.device)
    for token in reversed(range(rewards.shape[1])):
        surprise = rewards[:, token] + _DISCOUNT * value_after - values[:, token]
        after = (surprise + _DISCOUNT * _SMOOTHING * after) * mask[:, token]
        value_after = torch.where(mask[:, token] > 0, values[:, token], value_after)
        found[:, token] = after
    return found


def whitened(values: torch.Tensor, mask: torch.Tensor, total: Sum) -> torch.Tensor:
    """Mean 0 and spread 1 over the tokens of all ranks."""
    count, first = total(torch.stack([mask.sum(), (values * mask).sum()])).tolist()
    mean = first / count
    spread = total((((values - mean) ** 2) * mask).sum()).item() / count
    return (values - mean) / (spread + 1e-8) ** 0.5 * mask


def policy_loss(new: torch.Tensor, old: torch.Tensor, gain: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The clipped objective, summed over tokens: no reward for going further than the clip in one step."""
    ratio = (new - old).exp()
    return -(torch.minimum(ratio * gain, ratio.clamp(1 - _CLIP, 1 + _CLIP) * gain) * mask).sum()


def value_loss(new: torch.Tensor, old: torch.Tensor, returns: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Squared error of the foreseen worth, clipped in the same spirit and weighted, summed over tokens."""
    near = old + (new - old).clamp(-_VALUE_CLIP, _VALUE_CLIP)
    worst = torch.maximum((new - returns) ** 2, (near - returns) ** 2)
    return _VALUE_WEIGHT * 0.5 * (worst * mask).sum()


def distance(new: torch.Tensor, old: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """How far two policies are apart, summed over tokens; never negative."""
    gap = new - old
    return ((gap.exp() - 1 - gap) * mask).sum()
