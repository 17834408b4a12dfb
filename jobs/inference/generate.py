"""Answers of a causal language model with transformers: in batches, read token by token."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
import transformers
from penalties import processors_of
from reader import Answer, Hear, Reader
from sampling import Sampling
from stoker_job.plan import mixed
from stoker_job.problems import is_out_of_memory


class _Watch(transformers.StoppingCriteria):
    """Hands each new token to the reader of its row and ends the rows that are done."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers

    def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        for reader, token in zip(self._readers, input_ids[:, -1].tolist()):
            reader.take(token)
        return torch.tensor([reader.is_done for reader in self._readers], device=input_ids.device)


def batches(lengths: Sequence[int], room: int, max_tokens: int, size: int) -> list[list[int]]:
    """Neighbours in length, longest first. One that would fill the model's window goes alone: others must not shorten it."""
    order = sorted(range(len(lengths)), key=lambda number: -lengths[number])
    alone = [[number] for number in order if lengths[number] + max_tokens > room]
    others = [number for number in order if lengths[number] + max_tokens <= room]
    return alone + [others[start : start + size] for start in range(0, len(others), size)]


def generated(language: Any, prompts: Sequence[list[int]], sampling: Sampling, size: int, hear: Hear) -> Iterator[tuple[int, Answer]]:
    """The answers as they are ready, each with the number of its prompt. A batch the memory is too small for is halved."""
    waiting = batches([len(prompt) for prompt in prompts], language.window, sampling.max_tokens, size)
    seed = sampling.seed
    while waiting:
        rows = waiting.pop(0)
        try:
            answers = _batch(language, [prompts[row] for row in rows], sampling, seed, hear if len(prompts) == 1 else _silent)
        except Exception as error:
            if len(rows) == 1 or not is_out_of_memory(error):
                raise
            half = len(rows) // 2
            waiting[:0] = [rows[:half], rows[half:]]
            continue
        seed = mixed(seed, 1) % 2**31
        yield from zip(rows, answers)


def _batch(language: Any, prompts: Sequence[list[int]], sampling: Sampling, seed: int, hear: Hear) -> list[Answer]:
    """Padded on the left, so that all answers begin at the same place."""
    width, pad = max(len(prompt) for prompt in prompts), language.pad
    numbers = torch.tensor([[pad] * (width - len(prompt)) + prompt for prompt in prompts], device=language.device)
    there = torch.tensor([[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts], device=language.device)
    readers = [Reader(language.tokenizer, len(prompt), language.ends, sampling.stop, hear) for prompt in prompts]
    torch.manual_seed(seed)
    with torch.inference_mode():
        language.module.generate(
            input_ids=numbers, attention_mask=there, pad_token_id=pad, stopping_criteria=[_Watch(readers)],
            logits_processor=processors_of(sampling, width), **_options(sampling, min(sampling.max_tokens, language.window - width)),
        )  # fmt: skip
    return [reader.answer() for reader in readers]


def _silent(_piece: str) -> None:
    """Pieces of several answers at once would be one muddle."""


def _options(sampling: Sampling, room: int) -> dict[str, Any]:
    chosen: dict[str, Any] = {"max_new_tokens": room, "do_sample": sampling.do_sample, "num_beams": 1}
    if sampling.repetition_penalty is not None:
        chosen["repetition_penalty"] = sampling.repetition_penalty
    if not sampling.do_sample:
        return {**chosen, "temperature": None, "top_p": None, "top_k": None}
    return {**chosen, "temperature": sampling.temperature, "top_p": sampling.top_p, "top_k": sampling.top_k}
