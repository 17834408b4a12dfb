"""Teaches a tiny model who likes which colour, as a worker would have it taught."""

import json
import sys
import tarfile
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from program_run import run
from tiny_language import COLOURS, answer, facts_in, tiny_llama
from work_run import worked

import stoker_job  # noqa: F401 - finds emit
from stoker_job.problems import Failed, Refused

DATA = {"jsonl": {"path": "facts.jsonl", "prompt_field": "q", "response_field": "a", "separator": " "}}
TRAINING = {"num_train_epochs": 8, "batch_size": 8, "learning_rate": 0.01, "logging_steps": 8, "save_steps": 30}


def setUpModule() -> None:
    global folder
    folder = Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    tiny_llama(folder / "base")
    facts_in(folder / "facts.jsonl")


class Taught(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.ran = run("sft", folder, {"model": "base", "data": DATA, "training": TRAINING})
        cls.result = cls.ran.result

    def test_the_loss_falls_and_the_archived_model_loads_and_answers(self) -> None:
        import transformers

        losses = [row["loss"] for row in self.result["trainingMetrics"]]
        self.assertLess(losses[-1], losses[0] / 3)
        self.assertEqual(self.result["finalLoss"], losses[-1])
        with tarfile.open(folder / self.result["final_model_archive_path"]) as archive:
            archive.extractall(folder / "unpacked", filter="data")
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "unpacked/final_model")
        model = transformers.AutoModelForCausalLM.from_pretrained(folder / "unpacked/final_model")
        for name, colour in COLOURS.items():
            self.assertEqual(answer(model, tokenizer, f"what does {name} like ?"), f"{name} likes {colour} .")

    def test_the_result_has_the_documented_shape_and_says_how_it_came_about(self) -> None:
        wanted = {
            "task_id": "t", "training_successful": True, "error_message": None, "model_name": "base", "dataset_size": 64, "output_dir": "outputs",
            "resume_from_path": None, "final_model_path": "outputs/final_model", "final_model_archive": "final_model.tar.gz",
            "final_model_archive_path": "outputs/final_model.tar.gz", "final_model_archive_url": "final_model.tar.gz", "device": "cpu", "engine": "trl", "ranks": 1, "steps": 64,
        }  # fmt: skip
        self.assertEqual({name: self.result[name] for name in wanted}, wanted)
        self.assertLessEqual({"torch", "transformers", "trl", "accelerate", "datasets"}, set(self.result["versions"]))
        artifacts = {one["name"]: one["sha256"] for one in self.result["artifacts"]}
        self.assertEqual(artifacts["final_model/model.safetensors"], self.result["weightsSha256"])
        self.assertIn(self.result["final_model_archive"], artifacts)
        self.assertFalse([name for name in artifacts if "checkpoint" in name or name.endswith(".bin")])

    def test_progress_goes_up_by_steps_with_loss_and_learning_rate(self) -> None:
        said = self.ran.named("progress")
        percents = [event["percent"] for event in said]
        self.assertEqual((percents, percents[-1]), (sorted(percents), 100))
        rates = [event["metrics"]["learning_rate"] for event in said if "learning_rate" in event.get("metrics", {})]
        self.assertEqual((len(rates), rates), (8, sorted(rates, reverse=True)))
        self.assertEqual([event["step"] for event in self.ran.named("checkpoint")], [30, 60, 64])


class Wishes(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "base").symlink_to(folder / "base")
        (self.folder / "facts.jsonl").symlink_to(folder / "facts.jsonl")

    def work(self, **inputs: Any) -> dict[str, Any]:
        with unittest.mock.patch.dict("os.environ", {"DATA_PATH": str(folder)}):
            return worked("sft", self.folder, {"model": "base", **inputs})[0]

    def test_short_forms_packing_and_a_checkpoint_to_start_from_are_honoured(self) -> None:
        first = self.work(data={"dataset_name": "facts.jsonl", "text_field": "a", "max_samples": 16}, training={"learning_rate": 0.01, "logging_steps": 1, "packing": True, "max_seq_length": 16})
        self.assertEqual(first["dataset_size"], 16)
        self.assertLess(first["steps"], 8)
        (self.folder / "outputs").rename(self.folder / "before")
        second = self.work(data={"prompts": ["ann likes red ."]}, checkpoint={"load": "before/final_model.tar.gz"}, training={"save_model": False})
        self.assertEqual(second["model"]["startWeights"], first["weightsSha256"])
        self.assertIsNone(second["final_model_archive_url"])
        self.assertFalse((self.folder / "outputs/final_model.tar.gz").exists())

    def test_a_loss_that_is_no_number_names_the_step_and_the_learning_rate(self) -> None:
        import torch
        from safetensors.torch import load_file, save_file

        (self.folder / "broken").mkdir()
        for file in (folder / "base").iterdir():
            (self.folder / "broken" / file.name).write_bytes(file.read_bytes())
        weights = load_file(self.folder / "broken/model.safetensors")
        weights["model.norm.weight"] = torch.full_like(weights["model.norm.weight"], float("nan"))
        save_file(weights, self.folder / "broken/model.safetensors", {"format": "pt"})
        with self.assertRaisesRegex(Failed, r"the loss is nan in step 1, with training.learning_rate 5e-05: lower it"):
            self.work(model="broken", data={"prompts": ["ann likes red ."]})

    def test_training_that_diverges_is_ended(self) -> None:
        with self.assertRaisesRegex(Failed, r"training diverges: the loss is .* it began with 3.*; with training.learning_rate 50: lower it"):
            self.work(data=DATA, training={"learning_rate": 50, "logging_steps": 1, "num_train_epochs": 3})

    def test_missing_weights_and_models_that_are_nowhere_are_told(self) -> None:
        (self.folder / "empty").mkdir()
        (self.folder / "empty/config.json").write_text("{}")
        with self.assertRaisesRegex(Failed, r"empty has no .safetensors weights; it has config.json"):
            self.work(model="empty", data=DATA)
        unreached = unittest.mock.patch("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
        with unreached, self.assertRaisesRegex(Failed, r"model.source.identifier no/such is not in the job's folder, .* cannot be reached .*network: internet"):
            self.work(model={"source": {"identifier": "no/such"}}, data=DATA)
        with self.assertRaisesRegex(Refused, "model.source.identifier is missing and MODEL_PATH has no model"):
            self.work(model=None, data=DATA)

    def test_what_needs_a_gpu_or_another_package_is_not_pretended(self) -> None:
        for training, sentence in (({"fp16": True}, "training.fp16 is true, it needs a GPU"), ({"deepspeed": {}}, "the Python package deepspeed is not installed here")):
            with self.assertRaisesRegex(Failed, sentence):
                self.work(data=DATA, training=training)
        with self.assertRaisesRegex(Failed, "use_flash_attention_2 is true, it needs a GPU"):
            self.work(model={"source": {"identifier": "base"}, "transformers": {"use_flash_attention_2": True}}, data=DATA)


class Refusals(unittest.TestCase):
    def test_wrong_wishes_are_refused_without_torch(self) -> None:
        with tempfile.TemporaryDirectory() as empty:
            (Path(empty) / "torch.py").write_text("raise SystemExit('torch was imported')")
            ran = run("sft", Path(empty), {"model": "base", "data": "x.jsonl", "training": {"bach_size": 2}}, PYTHONPATH=empty)
        self.assertTrue(ran.finish["error"].endswith("did you mean training.batch_size?"), ran.finish)
        self.assertEqual((ran.code, json.dumps(ran.finish["result"]["errorDetails"])), (1, "null"))


if __name__ == "__main__":
    unittest.main()
