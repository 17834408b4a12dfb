"""Trains on the real digits as a worker would have it trained."""

import hashlib
import json
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from program_run import DIGITS, Ran, digits_in, run


class RealDigits(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.ran: Ran = run("mnist_training", cls.folder, {"epochs": 3, "dataset": str(DIGITS)})
        cls.result = cls.ran.result

    def test_at_least_95_percent_of_digits_it_has_not_seen_are_right(self) -> None:
        self.assertGreaterEqual(self.result["finalAccuracy"], 95)
        self.assertEqual([row["epoch"] for row in self.result["trainingMetrics"]], [1, 2, 3])
        self.assertEqual(self.result["finalLoss"], self.result["trainingMetrics"][-1]["loss"])
        facts = {name: self.result["dataset"][name] for name in ("trainExamples", "heldOutExamples", "synthetic")}
        self.assertEqual(facts, {"trainExamples": 5000, "heldOutExamples": 1000, "synthetic": False})
        self.assertEqual((self.result["status"], self.result["engine"], self.ran.code), ("success", "torch", 0))

    def test_the_saved_weights_alone_give_the_accuracy_that_was_told(self) -> None:
        from stoker_job.data.open import read_dataset
        from stoker_job.models.own import load_own

        model = load_own(self.folder / "outputs" / self.result["modelUrl"])
        held_out = read_dataset("mnist", DIGITS, 0).held_out
        right = model.module(*model.encode(held_out.items)).argmax(1) == held_out.labels
        self.assertAlmostEqual(100 * right.double().mean().item(), self.result["finalAccuracy"], places=6)

    def test_every_artifact_is_there_with_its_size_and_hash(self) -> None:
        names = [one["name"] for one in self.result["artifacts"]]
        self.assertEqual(names, ["checkpoint.pt", "metrics.json", "model.safetensors", "training-curve.png"])
        for one in self.result["artifacts"]:
            content = (self.folder / "outputs" / one["name"]).read_bytes()
            self.assertEqual((len(content), hashlib.sha256(content).hexdigest()), (one["size"], one["sha256"]))
        self.assertTrue((self.folder / "outputs/training-curve.png").read_bytes().startswith(b"\x89PNG"))
        metrics = json.loads((self.folder / "outputs/metrics.json").read_text())
        self.assertEqual([row["loss"] for row in metrics["epochs"]], [row["loss"] for row in self.result["trainingMetrics"]])

    def test_progress_goes_up_by_batches_and_metrics_come_with_each_epoch(self) -> None:
        said = self.ran.named("progress")
        percents = [event["percent"] for event in said]
        self.assertEqual((percents, percents[-1]), (sorted(percents), 100))
        by_epoch = [event["metrics"]["accuracy"] for event in said if "epoch" in event.get("metrics", {})]
        told = [event["operation"] for event in said]
        self.assertIn("epoch 1/3, batch 79/79", told)
        self.assertIn(f"epoch 2/3, batch 79/79, {100 * by_epoch[0]:.1f} % right", told)
        for one, row in zip(by_epoch, self.result["trainingMetrics"], strict=True):
            self.assertAlmostEqual(100 * one, row["accuracy"])


class OtherDigits(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_without_a_name_those_in_the_jobs_folder_are_taken(self) -> None:
        digits_in(self.folder / "mnist", 64, 20)
        result = run("mnist_training", self.folder, {"epochs": 1}, DATA_PATH="").result
        self.assertEqual((result["dataset"]["trainExamples"], result["dataset"]["heldOutExamples"]), (64, 20))

    def test_drawn_ones_only_when_asked_for_and_the_result_says_so(self) -> None:
        result = run("mnist_training", self.folder, {"dataset": "synthetic-digits", "epochs": 1}).result
        self.assertEqual((result["dataset"]["name"], result["dataset"]["synthetic"]), ("synthetic-digits", True))


if __name__ == "__main__":
    unittest.main()
