"""Teaches a tiny model by an adapter; the model itself stays as it is."""

import sys
import tarfile
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from program_run import run
from tiny_language import COLOURS, answer, facts_in, mistaken_llama
from work_run import worked

import stoker_job  # noqa: F401 - finds emit
from stoker_job.problems import Failed, Refused

DATA = {"jsonl": {"path": "facts.jsonl", "prompt_field": "q", "response_field": "a", "separator": " "}}
EVERYWHERE = {"r": 8, "alpha": 16, "dropout": 0, "target_modules": "all-linear"}
TRAINING = {"num_train_epochs": 8, "batch_size": 8, "learning_rate": 0.01, "logging_steps": 8}


class Adapted(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        mistaken_llama(cls.folder / "base")
        facts_in(cls.folder / "facts.jsonl")
        cls.result = run("lora_sft", cls.folder, {"model": "base", "data": DATA, "training": TRAINING, "lora": EVERYWHERE}).result
        (cls.folder / "outputs").rename(cls.folder / "first")

    def work(self, **inputs: Any) -> dict[str, Any]:
        return worked("lora_sft", self.folder, {"model": "base", "data": DATA, "lora": EVERYWHERE, **inputs})[0]

    def test_the_archive_merges_into_the_base_and_changes_what_it_says(self) -> None:
        import peft
        import transformers

        self.assertLess(self.result["finalLoss"], self.result["trainingMetrics"][0]["loss"] * 0.7)
        self.assertLess(self.result["model"]["trainedParameters"], self.result["model"]["parameters"])
        with tarfile.open(self.folder / "first/final_lora.tar.gz") as archive:
            archive.extractall(self.folder / "unpacked", filter="data")
        names = sorted(one.name for one in (self.folder / "unpacked/final_lora").iterdir())
        self.assertEqual(names, ["adapter_config.json", "adapter_model.safetensors", "tokenizer.json", "tokenizer_config.json"])
        tokenizer = transformers.AutoTokenizer.from_pretrained(self.folder / "base")
        base = transformers.AutoModelForCausalLM.from_pretrained(self.folder / "base")
        questions = {name: f"what does {name} like ?" for name in COLOURS}
        before = [answer(base, tokenizer, one) for one in questions.values()]
        merged = peft.PeftModel.from_pretrained(base, self.folder / "unpacked/final_lora").merge_and_unload()
        after = [answer(merged, tokenizer, one) for one in questions.values()]
        self.assertEqual(before[0], "ann likes blue .")
        self.assertEqual(after, [f"{name} likes {colour} ." for name, colour in COLOURS.items()])

    def test_an_adapter_is_gone_on_with_and_can_be_merged_before_another_one(self) -> None:
        short = {**TRAINING, "num_train_epochs": 1, "learning_rate": 1e-4, "logging_steps": 1}
        load = {"load": {"path": "first/final_lora.tar.gz", "archive_format": "tar"}}
        continued = self.work(checkpoint=load, training=short)
        self.assertEqual(continued["model"]["startAdapter"], self.result["weightsSha256"])
        self.assertAlmostEqual(continued["trainingMetrics"][0]["loss"], self.result["finalLoss"], delta=0.4)
        adapters = [{"path": "first/final_lora", "apply": "merge"}]
        merged = self.work(model={"source": {"identifier": "base"}, "adapters": adapters}, training=short)
        self.assertEqual([one["sha256"] for one in merged["model"]["adapters"]], [self.result["weightsSha256"]])
        self.assertAlmostEqual(merged["trainingMetrics"][0]["loss"], continued["trainingMetrics"][0]["loss"], delta=1e-3)

    def test_modules_the_model_does_not_have_are_named_beside_those_it_has(self) -> None:
        with self.assertRaisesRegex(Failed, "lora.target_modules is c_attn, this model has down_proj, .*q_proj"):
            self.work(lora={"target_modules": ["c_attn"]})

    def test_it_trains_in_one_process_and_says_so_to_those_who_want_more(self) -> None:
        with self.assertRaisesRegex(Refused, "training.nproc_per_node is 2, lora_sft trains in one process"):
            self.work(training={"nproc_per_node": 2})
        with unittest.mock.patch.dict("os.environ", {"WORLD_SIZE": "2"}), self.assertRaisesRegex(Refused, "the job has 2 ranks, lora_sft trains in one process"):
            self.work()


if __name__ == "__main__":
    unittest.main()
