"""Answers from passages, by a causal language model: which passages it was given is told with each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from stoker_job import stop
from stoker_job.inputs import Inputs
from stoker_job.model_load import load_module, load_tokenizer
from stoker_job.model_source import Source
from stoker_job.problems import Failed, Refused
from streaming import Told, UntilAsked

_TASK = "Answer the question from these passages alone, and name those you used by their numbers, like [1]."


@dataclass(frozen=True)
class Way:
    """How to answer, and who hears the pieces."""

    inference: Inputs
    stops: list[str]
    say: Callable[[str], None]


@dataclass(frozen=True)
class Answer:
    text: str
    finish_reason: str
    sources: list[Any]
    prompt_tokens: int
    completion_tokens: int


class Writer:
    """Keeps the model on its device; the same seed gives the same answer, whatever was asked before."""

    def __init__(self, source: Source, device: torch.device, dtype: str) -> None:
        self.device = device
        self.tokenizer, self.model = _loaded(source, device, dtype)
        self._room = getattr(self.model.config, "max_position_embeddings", None) or 10**9

    def answer(self, question: str, found: list[dict[str, Any]], system_prompt: str | None, how: Way) -> Answer:
        """Said piece by piece; a request to stop waits for the next token."""
        inference = how.inference
        most = inference["max_new_tokens"] or inference["max_tokens"]
        prompt, sources = self._fitting(question, found, system_prompt, most)
        told = Told(self.tokenizer, how.stops, how.say)
        torch.manual_seed(inference["seed"])
        with stop.deferred(), torch.inference_mode():
            made = self.model.generate(
                input_ids=prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=most, streamer=told,
                pad_token_id=self.tokenizer.pad_token_id, stopping_criteria=[UntilAsked(told)], **_sampling(inference),
            )  # fmt: skip
        if stop.is_asked():
            stop.leave()
        count = made.shape[1] - prompt.shape[1]
        return Answer(told.text, "length" if count >= most and not told.is_stopped else "stop", sources, prompt.shape[1], count)

    def _fitting(self, question: str, found: list[dict[str, Any]], system_prompt: str | None, most: int) -> tuple[torch.Tensor, list[Any]]:
        """The last passages are left out until the rest and the answer fit into what the model can read."""
        for count in range(len(found), -1, -1):
            ids = self._ids(_prompt(question, found[:count]), system_prompt)
            if ids.shape[1] + most <= self._room and (count or not found):
                return ids.to(self.device), [hit["id"] for hit in found[:count]]
        raise Failed(f"the model reads {self._room} tokens, question, first passage and an answer of {most} tokens are more: lower inference.max_tokens, or embedding.max_length for shorter passages")

    def _ids(self, prompt: str, system_prompt: str | None) -> torch.Tensor:
        if self.tokenizer.chat_template:
            system = [{"role": "system", "content": system_prompt}] if system_prompt else []
            text = self.tokenizer.apply_chat_template([*system, {"role": "user", "content": prompt}], tokenize=False, add_generation_prompt=True)
            return self.tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
        return self.tokenizer(f"{system_prompt}\n{prompt}" if system_prompt else prompt, return_tensors="pt")["input_ids"]


def _prompt(question: str, found: list[dict[str, Any]]) -> str:
    """Passages of a foreign collection may have no text: then all they say is given."""
    passages = [f"[{number}] {(hit['payload'] or {}).get('text') or hit['payload']}" for number, hit in enumerate(found, 1)]
    return "\n\n".join([_TASK, *passages, f"Question: {question}", "Answer:"])


def _sampling(how: Inputs) -> dict[str, Any]:
    samples = how["temperature"] > 0 if how["do_sample"] is None else how["do_sample"]
    if samples and how["temperature"] == 0:
        raise Refused("inference.do_sample is true and inference.temperature is 0, which always takes the likeliest: raise it, or leave do_sample out")
    drawn = {"temperature": how["temperature"], "top_p": how["top_p"], "top_k": max(how["top_k"], 0)} if samples else {}
    return {"do_sample": samples, "repetition_penalty": how["repetition_penalty"], **drawn}


def _loaded(source: Source, device: torch.device, dtype: str) -> tuple[Any, Any]:
    numbers = "auto" if dtype == "auto" and device.type == "cuda" else getattr(torch, "float32" if dtype == "auto" else dtype)
    model = load_module(transformers.AutoModelForCausalLM, source, {"dtype": numbers})
    tokenizer = load_tokenizer(source)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token or tokenizer.unk_token
    return tokenizer, model.to(device)
