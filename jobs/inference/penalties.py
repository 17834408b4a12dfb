"""What is done to the scores of the next token beyond the options of transformers."""

import torch
from sampling import Sampling
from stoker_job.problems import Failed
from transformers import LogitsProcessor


class Sound(LogitsProcessor):
    """The largest of numbers that are none is a token too: without a look, broken weights would talk."""

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        if torch.isnan(scores).any():
            raise Failed("the model answers with NaN: its weights are broken, or its dtype is too small for them")
        return scores


class Penalties(LogitsProcessor):
    """Each token that the answer has already loses `presence`, and `frequency` for every time; a bias is added."""

    def __init__(self, sampling: Sampling, prompt_width: int) -> None:
        self._presence, self._frequency = sampling.presence_penalty, sampling.frequency_penalty
        self._bias, self._width = sampling.logit_bias, prompt_width

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        said = input_ids[:, self._width :]
        counts = torch.zeros_like(scores).scatter_add_(1, said, torch.ones_like(said, dtype=scores.dtype))
        scores = scores - self._frequency * counts - self._presence * (counts > 0)
        for token, bias in self._bias.items():
            scores[:, token] += bias
        return scores


def processors_of(sampling: Sampling, prompt_width: int) -> list[LogitsProcessor]:
    is_needed = sampling.presence_penalty or sampling.frequency_penalty or sampling.logit_bias
    return [Sound(), *([Penalties(sampling, prompt_width)] if is_needed else [])]
