"""Asks models that were made by the same libraries, and compares with asking them directly."""

import contextlib
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

import torch
from PIL import Image
from program_run import DIGITS, run
from sample_data import tiny_bert
from stoker_job.data.open import read_dataset
from stoker_job.models import open_model
from stoker_job.models.own import designed_for, load_own
from stoker_job.problems import Failed, Refused


class Images(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.digits = read_dataset("mnist", DIGITS, 0)
        designed_for(cls.digits, "small", 0).save(cls.folder)

    def test_pixels_pictures_and_idx_files_get_the_answer_of_the_network(self) -> None:
        image = self.digits.held_out.items[0]
        Image.frombytes("L", (28, 28), bytes(image.flatten().tolist())).save(self.folder / "d.png")
        asked = [image[0].tolist(), ["d.png"], str(DIGITS / "t10k-images-idx3-ubyte.gz"), [[1, 2]], []]
        tasks = [{"task_id": str(number), "metadata": {"model": "model.safetensors", "input": given, "top": 3}} for number, given in enumerate(asked)]
        ran = run("inference", self.folder, {}, "".join(json.dumps(task) + "\n" for task in tasks), SESSION_ID="s")
        finished = ran.named("finish")
        self.assertEqual([event["status"] for event in finished], ["completed"] * 3 + ["failed"] * 2, ran.stderr)
        self.assertEqual(len([event for event in ran.named("worker") if event["status"] == "loading"]), 1)
        network = load_own(self.folder / "model.safetensors")
        shares = torch.softmax(network.module(image.unsqueeze(0))[0], 0).detach()
        for event in finished[:3]:
            first = event["result"]["predictions"][0]
            self.assertEqual(first["prediction"], network.classes[int(shares.argmax())])
            self.assertAlmostEqual(first["confidence"], float(shares.max()), places=5)
            self.assertEqual(len(first["top"]), 3)
            self.assertGreater(first["latency_ms"], 0)
            self.assertEqual(event["result"]["computationData"], first)
        self.assertEqual(finished[2]["result"]["predictionCount"], 1000)
        self.assertIn("input has the shape [1, 2], the model takes [1, 28, 28]", finished[3]["error"])
        self.assertEqual(ran.code, 0)

    def test_missing_weights_are_told(self) -> None:
        empty = self.folder / "empty"
        empty.mkdir()
        (empty / "notes.txt").write_text("")
        cases = [
            ("gone", "", "model gone does not exist; the job's folder has"),
            (None, "", "the input model is missing and MODEL_PATH has no model"),
            (None, str(empty), "model empty has notes.txt, it needs model.safetensors"),
        ]
        self.enterContext(contextlib.chdir(self.folder))
        for name, path, sentence in cases:
            with mock.patch.dict(os.environ, MODEL_PATH=path), self.assertRaisesRegex((Failed, Refused), sentence):
                open_model("model", name, None)


class Texts(unittest.TestCase):
    def test_a_transformers_folder_at_model_path_answers_as_a_direct_call(self) -> None:
        import transformers

        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        tiny_bert(folder / "bert")
        result = run("inference", folder, {"input": "the day was great"}, MODEL_PATH=str(folder / "bert")).result
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder / "bert")
        model = transformers.AutoModelForSequenceClassification.from_pretrained(folder / "bert").eval()
        shares = torch.softmax(model(**tokenizer("the day was great", return_tensors="pt")).logits[0], 0).detach()
        (answer,) = result["predictions"]
        self.assertEqual(answer["prediction"], ("good", "bad")[int(shares.argmax())])
        self.assertAlmostEqual(answer["confidence"], float(shares.max()), places=5)
        self.assertEqual(json.loads((folder / "outputs/predictions.json").read_text()), [answer])


if __name__ == "__main__":
    unittest.main()
