"""Answers with vLLM, on exactly the GPUs the job sees."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import emit
import torch
import transformers
import vllm
from model_asked import ModelAsked
from parallel_size import parallel_size, tries
from places import Places
from reader import Answer, Hear
from sampling import Sampling
from stoker_job.adapters import CONFIG as ADAPTER_CONFIG
from stoker_job.adapters import with_adapters
from stoker_job.inputs import Inputs
from stoker_job.locate import cache
from stoker_job.model_load import load_module, load_tokenizer
from stoker_job.model_source import Source
from stoker_job.problems import Failed, Refused, first_line
from vllm.lora.request import LoRARequest

_RANKS = (8, 16, 32, 64, 128, 256, 512)


@dataclass(frozen=True)
class VllmModel:
    """A running engine of vLLM; `facts` tell what it was given in the end."""

    name: str
    tokenizer: Any
    engine: Any
    lora: Any
    window: int
    facts: dict[str, Any]

    def answers(self, prompts: Sequence[list[int]], sampling: Sampling, size: int, hear: Hear) -> Iterator[tuple[int, Answer]]:
        """It makes its own batches, so `size` says nothing to it. What is left when the caller leaves is taken back."""
        told = 0
        for number, prompt in enumerate(prompts):
            self.engine.add_request(str(number), {"prompt_token_ids": prompt}, self._options(sampling, len(prompt)), lora_request=self.lora)
        try:
            while self.engine.has_unfinished_requests():
                for given in self.engine.step():
                    number, (said,) = int(given.request_id), given.outputs
                    if len(prompts) == 1 and len(said.text) > told:
                        hear(said.text[told:])
                        told = len(said.text)
                    if given.finished:
                        yield number, Answer(said.text, said.finish_reason or "stop", len(prompts[number]), len(said.token_ids))
        finally:
            self.engine.abort_request([str(number) for number in range(len(prompts))])

    def engine_facts(self) -> dict[str, Any]:
        return {"engine": "vllm", "device": ", ".join(f"cuda:{number}" for number in range(self.facts["tensor_parallel_size"]))}

    def _options(self, sampling: Sampling, length: int) -> Any:
        return vllm.SamplingParams(
            max_tokens=min(sampling.max_tokens, self.window - length), temperature=sampling.temperature if sampling.do_sample else 0.0,
            top_p=sampling.top_p, top_k=sampling.top_k or -1, seed=sampling.seed, stop=list(sampling.stop),
            repetition_penalty=sampling.repetition_penalty or 1.0, presence_penalty=sampling.presence_penalty,
            frequency_penalty=sampling.frequency_penalty, logit_bias=sampling.logit_bias or None,
        )  # fmt: skip


def open_vllm(asked: ModelAsked, places: Places) -> VllmModel:
    """Adapters that are merged or scaled become a folder of merged weights, for vLLM knows neither."""
    beside = [one for one in places.adapters if one[1]["apply"] == "runtime" and one[1]["scale"] == 1]
    merged = [one for one in places.adapters if one not in beside]
    if len(beside) > 1:
        raise Refused(f"model.adapters has {len(beside)} that stay beside the model, vLLM takes one: let the others have apply: merge")
    weights = _merged(places, merged) if merged else places.weights
    lora = LoRARequest("adapter", 1, str(beside[0][2])) if beside else None
    size = parallel_size(asked.vllm["tensor_parallel_size"], torch.cuda.device_count(), bool(places.adapters))
    engine, how = _started(asked, weights, places.tokenizer, size, lora)
    window = engine.model_config.max_model_len
    return VllmModel(places.name, load_tokenizer(places.tokenizer), engine, lora, window, {**places.facts, **how})


def _started(asked: ModelAsked, weights: Source, tokenizer: Source, size: int, lora: Any) -> tuple[Any, dict[str, Any]]:
    given = asked.vllm
    fallbacks: list[str] = []
    for count, utilization in tries(size, given["gpu_memory_utilization"]):
        try:
            model = vllm.LLM(
                model=weights.place, tokenizer=tokenizer.place, revision=weights.revision, tensor_parallel_size=count,
                gpu_memory_utilization=utilization, max_model_len=given["max_model_len"], dtype=given["dtype"],
                trust_remote_code=asked.trusts_code or given["trust_remote_code"], download_dir=given["download_dir"],
                enable_lora=lora is not None, max_lora_rank=_rank_of(lora),
            )  # fmt: skip
            return model.llm_engine, {"tensor_parallel_size": count, "gpu_memory_utilization": utilization, "fallbacks": fallbacks}
        except (RuntimeError, ValueError, AssertionError) as error:
            fallbacks.append(f"{count} GPUs with {utilization:g} of their memory: {first_line(error)}")
            emit.log(f"vLLM did not start with {fallbacks[-1]}", "warning")
    raise Failed(f"vLLM cannot load {weights.name}: {fallbacks[-1]}")


def _rank_of(lora: Any) -> int:
    """The smallest of those vLLM knows that holds the adapter."""
    rank = 1 if lora is None else json.loads((Path(lora.lora_path) / ADAPTER_CONFIG).read_text("utf8"))["r"]
    return next((one for one in _RANKS if one >= rank), _RANKS[-1])


def _merged(places: Places, adapters: list[tuple[str, Inputs, Path]]) -> Source:
    """In a folder of this run's own, for other adapters make other weights."""
    cache().mkdir(parents=True, exist_ok=True)
    folder = tempfile.mkdtemp(prefix="merged-", dir=cache())
    always = [(path, Inputs({"apply": "merge", "scale": asked["scale"]}), place) for path, asked, place in adapters]
    module = with_adapters(load_module(transformers.AutoModelForCausalLM, places.weights, {"dtype": "auto"}), always)
    module.save_pretrained(folder)
    return replace(places.weights, place=str(Path(folder).resolve()), revision=None, is_local=True)
