"""The prompts of several questions, answered together and told apart again."""

import time
from typing import Any

import emit
from engine import Engine
from question import Question, item_of
from reader import Answer
from sampling import Sampling
from stoker_job.template_data import Prompt

_PIECE_CHARACTERS = 100_000


class BatchRun:
    """Takes questions, answers all of them at once, and gives each its own. The question with the id None is the task's own."""

    def __init__(self, engine: Engine, sampling: Sampling, batch_size: int) -> None:
        self._engine, self._sampling, self._batch_size = engine, sampling, batch_size
        self._asked: list[tuple[str | None, Prompt, str, list[int]]] = []
        self._answers: dict[int, Answer] = {}
        self._seconds = 0.0

    def ask(self, task: str | None, question: Question) -> None:
        """All of its prompts or none of them."""
        encoded = question.encoded(self._engine)
        self._asked += [(task, prompt, text, tokens) for prompt, (text, tokens) in zip(question.prompts, encoded)]

    def answer(self) -> None:
        started, count, said = time.monotonic(), len(self._asked), 0
        prompts = [tokens for *_, tokens in self._asked]
        for number, answer in self._engine.answers(prompts, self._sampling, self._batch_size, emit.text_delta):
            self._answers[number] = answer
            self._tell(number, answer)
            self._seconds = time.monotonic() - started
            said += answer.completion_tokens
            emit.progress(5 + 90 * len(self._answers) / count, f"answer {len(self._answers)}/{count}", tokensPerSecond=round(said / max(self._seconds, 1e-9), 1))

    def items(self, task: str | None) -> list[dict[str, Any]]:
        """As the result has them, in the order of the data."""
        return [self._item(number) for number, one in enumerate(self._asked) if one[0] == task]

    def usage(self, *tasks: str | None) -> dict[str, Any]:
        """Of these tasks; without any, of the whole batch."""
        own = [self._answers[number] for number, one in enumerate(self._asked) if not tasks or one[0] in tasks]
        prompt, completion = sum(one.prompt_tokens for one in own), sum(one.completion_tokens for one in own)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "num_requests": len(own),
            "latency_sec": round(self._seconds, 4),
        }

    def _item(self, number: int) -> dict[str, Any]:
        _, prompt, text, _ = self._asked[number]
        answer = self._answers[number]
        item = item_of(prompt, output=answer.text, finish_reason=answer.finish_reason)
        return {**item, "metadata": {**item["metadata"], "rendered_prompt": text}}

    def _tell(self, number: int, answer: Answer) -> None:
        """One that was alone is told already, and children have no stream; of several own answers each says whose it is."""
        task, prompt, *_ = self._asked[number]
        if task is None and len(self._asked) > 1:
            line = answer.text + "\n"
            for start in range(0, len(line), _PIECE_CHARACTERS):
                emit.emit("text_delta", delta=line[start : start + _PIECE_CHARACTERS], index=prompt.index)
