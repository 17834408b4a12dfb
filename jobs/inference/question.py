"""What one template wants to know: its prompts, and what is to be done with the answers. Children of a merge are such too."""

from dataclasses import dataclass
from typing import Any

from chat import rendered
from engine import Engine, encoded
from export import Export, export_of
from sampling import inference_section
from stoker_job.inputs import shown
from stoker_job.problems import Refused
from stoker_job.template_data import Prompt, own_share, prompts_of


@dataclass(frozen=True)
class Question:
    """`chat_template` is False for plain prompts, True for the template of the model, or a template itself."""

    prompts: list[Prompt]
    dataset: dict[str, Any] | None
    shard: dict[str, Any] | None
    export: Export | None
    system_prompt: str | None
    chat_template: Any

    def rendered(self, engine: Engine, prompt: Prompt) -> str:
        """As the model gets it."""
        system = self.system_prompt if prompt.has_system else None
        if self.chat_template is False:
            return f"{system}\n{prompt.text}" if system else prompt.text
        messages = [{"role": "user", "content": prompt.text}]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        return rendered(engine.tokenizer, messages, None if self.chat_template is True else self.chat_template)

    def encoded(self, engine: Engine) -> list[tuple[str, list[int]]]:
        """Each prompt as text and tokens; a chat template brings its own special tokens."""
        texts = [self.rendered(engine, prompt) for prompt in self.prompts]
        is_plain = self.chat_template is False
        return [(text, encoded(engine, f"item {prompt.index}", text, is_plain)) for prompt, text in zip(self.prompts, texts)]


def question_of(spec: dict[str, Any]) -> Question:
    """Checked before a model is loaded."""
    inference = inference_section(spec.get("inference"))
    if not isinstance(inference["chat_template"], (bool, str)):
        raise Refused(f"inference.chat_template is {shown(inference['chat_template'])}, it must be true, false or a template")
    if spec.get("data") is None:
        raise Refused("data is missing: a text, a list of texts, or an object with type list, dataset or graph_template")
    export = export_of(spec.get("postprocess"))
    prompts, dataset = prompts_of(spec["data"], spec.get("_upstreamResults"), inference["system_prompt"])
    prompts, shard = own_share(prompts, spec.get("shard"))
    if export is not None:
        export.check([item_of(prompt) for prompt in prompts])
    return Question(prompts, dataset, shard, export, inference["system_prompt"], inference["chat_template"])


def item_of(prompt: Prompt, **more: Any) -> dict[str, Any]:
    """An entry of `items` in the result."""
    return {"index": prompt.index, "prompt": prompt.text, **more, "metadata": {**prompt.metadata, "prompt": prompt.text}}
