"""The model that learns, the same model as it was at the start, and a head that foresees rewards."""

import copy
from typing import Any

import torch
from stoker_job.inputs import Inputs
from stoker_job.problems import Failed
from stoker_job.ranks import Ranks
from stoker_job.tuning.language_model import Started, most_tokens


class Policy:
    """Draws answers and tells how likely they are."""

    def __init__(self, started: Started, generation: dict[str, Any], ranks: Ranks, training: Inputs) -> None:
        self.tokenizer, self.generation, self.device = started.tokenizer, generation, ranks.device
        self.tokenizer.padding_side = self.tokenizer.truncation_side = "left"
        self.model = _without_dropout(started.model).to(ranks.device)
        self.start = copy.deepcopy(self.model).eval().requires_grad_(False)
        self.head = torch.nn.Linear(started.model.config.get_text_config().hidden_size, 1).to(ranks.device)
        torch.nn.init.zeros_(self.head.weight)
        torch.nn.init.zeros_(self.head.bias)
        most = most_tokens(self.model, training["max_seq_length"])
        self.most_prompt = most - generation["max_new_tokens"]
        if self.most_prompt < 1:
            raise Failed(f"generation.max_new_tokens is {generation['max_new_tokens']}, which leaves no room for a prompt in {most} tokens")
        self.is_bf16, self.is_checkpointing = training["bf16"], training["gradient_checkpointing"]

    def parameters(self) -> list[torch.nn.Parameter]:
        return [*self.model.parameters(), *self.head.parameters()]

    @torch.no_grad()
    def draw(self, prompts: list[str]) -> "Answers":
        """One answer for each prompt, drawn from the model as it is now."""
        given = self.tokenizer(prompts, padding=True, truncation=True, max_length=self.most_prompt, return_tensors="pt").to(self.device)
        width = given["input_ids"].shape[1]
        stop = {"stopping_criteria": [lambda tokens, _scores: self._are_over(tokens[:, width:])]} if self.generation["stop"] else {}
        self.model.eval()
        tokens = self.model.generate(
            input_ids=given["input_ids"], attention_mask=given["attention_mask"], max_new_tokens=self.generation["max_new_tokens"], do_sample=True,
            temperature=self.generation["temperature"], top_k=0, top_p=1.0, pad_token_id=self.tokenizer.pad_token_id, eos_token_id=self.tokenizer.eos_token_id, **stop,
        )  # fmt: skip
        lengths = torch.tensor([self._length(row[width:]) for row in tokens], device=self.device)
        mask = (torch.arange(tokens.shape[1] - width, device=self.device) < lengths.unsqueeze(1)).float()
        return Answers(tokens, torch.cat([given["attention_mask"].float(), mask], 1), mask, width)

    def judged(self, answers: "Answers", is_start: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
        """For each drawn token the logarithm of its chance and the foreseen worth."""
        model = self.start if is_start else self.model.train(self.is_checkpointing)
        seen = answers.seen.long()
        positions = (seen.cumsum(1) - 1).clamp(min=0)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.is_bf16):
            said = model(input_ids=answers.tokens, attention_mask=seen, position_ids=positions, output_hidden_states=True, use_cache=False)
        before = slice(answers.width - 1, -1)
        logits = said.logits[:, before].float() / self.generation["temperature"]
        chosen = answers.tokens[:, answers.width :].unsqueeze(2)
        chances = logits.gather(2, chosen).squeeze(2) - logits.logsumexp(2)
        return chances, self.head(said.hidden_states[-1][:, before].float()).squeeze(2)

    def texts(self, answers: "Answers") -> list[str]:
        """Prompt and answer as a person would read them."""
        rows = zip(answers.tokens, answers.seen, strict=True)
        return [self.tokenizer.decode(row[seen > 0], skip_special_tokens=True) for row, seen in rows]

    def _length(self, tokens: torch.Tensor) -> int:
        """Up to the end that was drawn, that included; what follows is only filling."""
        ends = (tokens == self.tokenizer.eos_token_id).nonzero()
        length = int(ends[0]) + 1 if len(ends) else len(tokens)
        if not self.generation["stop"]:
            return length
        return next((count for count in range(1, length + 1) if self._has_stop(tokens[:count])), length)

    def _has_stop(self, tokens: torch.Tensor) -> bool:
        text = self.tokenizer.decode(tokens, skip_special_tokens=True)
        return any(stop in text for stop in self.generation["stop"])

    def _are_over(self, answers: torch.Tensor) -> torch.Tensor:
        return torch.tensor([self._has_stop(one) for one in answers], device=self.device)


class Answers:
    """Prompts and what was drawn after them: `seen` and `mask` are 1 where tokens count, of all and of the drawn ones."""

    def __init__(self, tokens: torch.Tensor, seen: torch.Tensor, mask: torch.Tensor, width: int) -> None:
        self.tokens, self.seen, self.mask, self.width = tokens, seen, mask, width

    def some(self, rows: torch.Tensor) -> "Answers":
        return Answers(self.tokens[rows], self.seen[rows], self.mask[rows], self.width)


def _without_dropout(model: Any) -> Any:
    """Chances before and after an update can be compared only without chance in the model itself."""
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
        if isinstance(getattr(module, "attention_dropout", None), float):
            module.attention_dropout = 0.0
    return model
