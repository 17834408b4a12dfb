"""Trains classifiers of texts and of images."""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from program_run import digits_in, run
from sample_data import texts_in


class Training(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_texts_are_learned_and_the_same_seed_gives_the_same_weights(self) -> None:
        texts_in(self.folder / "texts.jsonl", 240)
        inputs = {"dataset": "texts.jsonl", "epochs": 4, "learning_rate": 0.02, "batch_size": 16}
        result, again = (run("training", self.folder, inputs).result for _ in range(2))
        self.assertGreaterEqual(result["finalMetrics"]["finalAccuracy"], 0.95)
        self.assertEqual(result["dataset"]["kind"], "text")
        self.assertEqual((result["jobType"], result["modelUrl"], result["checkpointUrl"]), ("training", "model.safetensors", "checkpoint.pt"))
        data = result["computationData"]
        self.assertEqual((data["epoch"], data["learning_rate"], data["loss"]), (4, 0.02, result["finalMetrics"]["finalLoss"]))
        self.assertEqual(result["trainingMetrics"], again["trainingMetrics"])
        self.assertEqual(weights(result), weights(again))

    def test_images_are_learned_better_than_by_guessing(self) -> None:
        digits_in(self.folder / "digits", 400, 100)
        result = run("training", self.folder, {"dataset": "digits", "epochs": 2, "batch_size": 20}).result
        self.assertGreaterEqual(result["finalMetrics"]["finalAccuracy"], 0.6)
        self.assertLess(result["trainingMetrics"][1]["trainLoss"], result["trainingMetrics"][0]["trainLoss"])

    def test_a_dataset_is_needed_and_sizes_are_known(self) -> None:
        self.assertIn("the input dataset is missing", run("training", self.folder, {}).finish["error"])
        ran = run("training", self.folder, {"dataset": "x", "model_size": "smal"})
        self.assertEqual(ran.finish["error"], 'model_size is the text "smal", it must be one of small, medium, large; did you mean small?')


def weights(result: dict) -> str:
    return next(one["sha256"] for one in result["artifacts"] if one["name"] == "model.safetensors")


if __name__ == "__main__":
    unittest.main()
