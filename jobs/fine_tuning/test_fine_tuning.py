"""Goes on from our own weights and from a folder of transformers."""

import shutil
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from program_run import digits_in, run
from sample_data import texts_in, tiny_bert


class FineTuning(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_digits_get_better_from_the_weights_of_a_training(self) -> None:
        digits_in(self.folder / "digits", 400, 200)
        trained = run("mnist_training", self.folder, {"dataset": "digits", "epochs": 1, "batch_size": 20}).result
        shutil.move(self.folder / "outputs/model.safetensors", self.folder / "base.safetensors")
        shutil.rmtree(self.folder / "outputs")
        inputs = {"baseModel": "base.safetensors", "dataset": "digits", "epochs": 2, "learning_rate": 0.002}
        result = run("fine_tuning", self.folder, inputs).result
        base = result["baseModel"]
        self.assertEqual(base["lastLayer"], "kept")
        self.assertAlmostEqual(100 * base["validation_accuracy"], trained["finalAccuracy"], places=4)
        self.assertGreater(result["computationData"]["validation_accuracy"], base["validation_accuracy"])
        names = [one["name"] for one in result["artifacts"]]
        self.assertIn(result["modelUrl"], names)
        self.assertIn(result["checkpointUrl"], names)

    def test_a_transformers_folder_with_other_classes_learns_texts_and_its_archive_is_used_by_inference(self) -> None:
        tiny_bert(self.folder / "bert", ("x", "y", "z"))
        texts_in(self.folder / "texts.jsonl", 240)
        inputs = {"baseModel": "bert", "dataset": "texts.jsonl", "epochs": 4, "learning_rate": 0.005, "batch_size": 16}
        result = run("fine_tuning", self.folder, inputs).result
        self.assertEqual((result["baseModel"]["lastLayer"], result["modelUrl"]), ("new", "model.tar.gz"))
        self.assertGreaterEqual(result["computationData"]["validation_accuracy"], 0.95)
        asked = {"model": "outputs/model.tar.gz", "input": ["the train was lovely", "a cruel day"]}
        told = run("inference", self.folder, asked).result
        self.assertEqual([one["prediction"] for one in told["predictions"]], ["good", "bad"])

    def test_a_model_and_a_dataset_that_do_not_fit_are_told(self) -> None:
        from fit import fitted
        from stoker_job.data.open import read_dataset
        from stoker_job.models.pretrained import load_pretrained
        from stoker_job.problems import Failed

        digits = read_dataset("digits", digits_in(self.folder / "digits", 20, 10), 0)
        bert = tiny_bert(self.folder / "bert")
        with self.assertRaisesRegex(Failed, "the base model takes texts, dataset digits has images"):
            fitted(load_pretrained(bert), digits, 0)
        for file in bert.glob("*.safetensors"):
            file.unlink()
        with self.assertRaisesRegex(Failed, "model bert has a config.json but no .safetensors weights"):
            load_pretrained(bert)


if __name__ == "__main__":
    unittest.main()
