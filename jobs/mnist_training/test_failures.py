"""What cannot be done is said in a sentence a person can act on."""

import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from program_run import Ran, digits_in, ended, run, start


class Failures(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_bad_inputs_are_refused_with_the_two_facts_and_without_torch(self) -> None:
        cases: list[tuple[Any, str]] = [
            ({"epochs": 0}, "epochs is 0, it must be a whole number from 1 to 10000"),
            ({"epochs": "3"}, 'epochs is the text "3", it must be a whole number from 1 to 10000'),
            ({"learning_rate": True}, "learning_rate is true, it must be a number from 1e-09 to 1000000"),
            ({"epoch": 3}, "the input epoch is unknown, this program takes dataset, "),
            ([1], "the input is [1], it must be an object with the keys dataset, "),
        ]
        (self.folder / "torch.py").write_text("raise SystemExit('torch was imported')")
        for inputs, sentence in cases:
            with self.subTest(inputs=inputs):
                ran = self.failed(run("mnist_training", self.folder, inputs, PYTHONPATH=str(self.folder)))
                self.assertTrue(ran.finish["error"].startswith(sentence), ran.finish["error"])
                self.assertNotIn("Traceback", ran.stderr)

    def test_a_loss_that_is_no_number_names_the_batch_and_the_learning_rate(self) -> None:
        digits_in(self.folder / "mnist", 300, 50)
        ran = self.failed(run("mnist_training", self.folder, {"learning_rate": 1e6}))
        self.assertRegex(ran.finish["error"], r"the loss is (nan|inf) in epoch 1, batch \d+, with learning_rate 1e\+06: lower it")
        self.assertIn("Traceback", ran.finish["result"]["errorDetails"])
        self.assertEqual(ran.named("checkpoint"), [])

    def test_a_missing_package_is_named(self) -> None:
        (self.folder / "torch.py").write_text("raise ModuleNotFoundError(name='torch')")
        ran = self.failed(ended(start("mnist_training", self.folder, {}, PYTHONPATH=str(self.folder))))
        self.assertIn("the Python package torch is not installed here", ran.finish["error"])

    def failed(self, ran: Ran) -> Ran:
        self.assertEqual((ran.finish["event"], ran.finish["status"], ran.code), ("finish", "failed", 1), ran.stderr)
        return ran


if __name__ == "__main__":
    unittest.main()
