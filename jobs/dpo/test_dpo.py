"""Teaches a tiny model which of two answers is the better one."""

import json
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from program_run import run
from tiny_language import COLOURS, tiny_llama
from work_run import worked

import stoker_job  # noqa: F401 - finds emit
from stoker_job.problems import Failed, Refused

PAIRS = [{"prompt": f"what does {name} like ?", "chosen": f" {name} likes {colour} .", "rejected": f" {name} likes bad ."} for name, colour in COLOURS.items()]


class Preferred(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        tiny_llama(cls.folder / "base")
        rows = [{"question": one["prompt"], "better": one["chosen"], "worse": one["rejected"]} for one in PAIRS]
        (cls.folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows * 4))

    def test_the_margin_between_chosen_and_rejected_grows_as_the_weights_themselves_say(self) -> None:
        data = {"jsonl": {"path": "pairs.jsonl", "prompt_field": "question", "chosen_field": "better", "rejected_field": "worse"}}
        training = {"num_train_epochs": 6, "batch_size": 8, "learning_rate": 0.002, "logging_steps": 2, "save_strategy": "epoch", "beta": 0.2}
        ran = run("dpo", self.folder, {"model": "base", "data": data, "training": training})
        history = ran.result["trainingMetrics"]
        self.assertGreater(ran.result["finalMargin"], history[0]["margin"] + 0.1)
        self.assertEqual(ran.result["finalAccuracy"], 1.0)
        self.assertEqual([event["step"] for event in ran.named("checkpoint")], [2, 4, 6, 8, 10, 12])
        self.assertNotIn("task_id", ran.result)
        self.assertGreater(self.margin(self.folder / "outputs/final_model"), self.margin(self.folder / "base") + 0.5)

    def test_preferences_in_the_job_itself_are_learned_from_too(self) -> None:
        result = self.work({"preferences": PAIRS, "max_samples": 2}, {"logging_steps": 1})
        self.assertEqual((result["dataset_size"], result["steps"], round(result["finalLoss"], 4)), (2, 1, 0.6931))

    def test_missing_columns_empty_files_and_forms_of_other_programs_are_told(self) -> None:
        with self.assertRaisesRegex(Failed, "row 1 has no column prompt, it has question, better, worse"):
            self.work({"jsonl_path": "pairs.jsonl"})
        (self.folder / "empty.jsonl").write_text("\n")
        with self.assertRaisesRegex(Failed, "data empty.jsonl has no rows with a text, at least one is needed"):
            self.work({"jsonl_path": "empty.jsonl"})
        with self.assertRaisesRegex(Refused, "the input data.prompts is unknown, this program takes data.dataset_name"):
            self.work({"prompts": ["x"]})
        with self.assertRaisesRegex(Refused, "data has none of dataset_name, jsonl, jsonl_path, preferences"):
            self.work({})

    def work(self, data: Any, training: Any = None) -> dict[str, Any]:
        return worked("dpo", self.folder, {"model": "base", "data": data, "training": training})[0]

    def margin(self, folder: Path) -> float:
        """How much likelier the chosen answers are than the rejected ones, in nats."""
        import transformers

        model = transformers.AutoModelForCausalLM.from_pretrained(folder)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        return sum(likelihood(model, tokenizer, one["prompt"] + one["chosen"]) - likelihood(model, tokenizer, one["prompt"] + one["rejected"]) for one in PAIRS) / len(PAIRS)


def likelihood(model: Any, tokenizer: Any, text: str) -> float:
    import torch

    numbers = tokenizer(text, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        chances = model(numbers).logits[0, :-1].log_softmax(1)
    return chances.gather(1, numbers[0, 1:, None]).sum().item()


if __name__ == "__main__":
    unittest.main()
