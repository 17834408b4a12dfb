"""Checkpoints, models, the trainer and the envelope, in one process."""

import contextlib
import io
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from PIL import Image

sys.path.append(str(Path(__file__).resolve().parent))

from stoker_job import checkpoints, envelope
from stoker_job.curve import draw_curve
from stoker_job.data import Dataset, Examples
from stoker_job.models.own import designed_for, load_own
from stoker_job.plan import Plan
from stoker_job.problems import Failed, sentence_of
from stoker_job.processors import quota
from stoker_job.ranks import Ranks
from stoker_job.trainer import Trainer

ALONE = Ranks(0, 1, torch.device("cpu"))


class Own(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(contextlib.chdir(self.folder))
        self.said = self.enterContext(contextlib.redirect_stdout(io.StringIO()))


class Checkpoints(Own):
    def resumed(self, path: str, **identity: Any) -> Any:
        with mock.patch.dict(os.environ, RESUME_FROM=path):
            return checkpoints.read(identity)

    def test_two_are_kept_and_the_newest_is_read(self) -> None:
        for step in (9, 10, 100):
            checkpoints.write({"identity": {"seed": 1}, "step": step}, step)
        names = sorted(file.name for file in checkpoints.folder().iterdir())
        self.assertEqual(names, ["step-0000000010.pt", "step-0000000100.pt"])
        state, file = self.resumed("outputs/checkpoints", seed=1)
        self.assertEqual((state["step"], file.name), (100, "step-0000000100.pt"))
        self.assertIn('"path": "outputs/checkpoints/step-0000000100.pt", "step": 100', self.said.getvalue())

    def test_one_that_cannot_be_read_gives_way_to_the_one_before(self) -> None:
        checkpoints.write({"identity": {}, "step": 1}, 1)
        checkpoints.write({"identity": {}, "step": 2}, 2)
        (checkpoints.folder() / "step-0000000002.pt").write_bytes(b"PK\x03\x04 cut")
        self.assertEqual(self.resumed("outputs/checkpoints")[0]["step"], 1)
        with self.assertRaisesRegex(Failed, "none of its 1 checkpoints can be read"):
            self.resumed("outputs/checkpoints/step-0000000002.pt")

    def test_none_yet_is_a_beginning_and_a_wrong_path_an_error(self) -> None:
        (self.folder / "empty").mkdir()
        self.assertIsNone(self.resumed("empty"))
        self.assertIsNone(self.resumed(""))
        with self.assertRaisesRegex(Failed, "RESUME_FROM is gone, which does not exist"):
            self.resumed("gone")

    def test_one_of_other_work_names_both_facts(self) -> None:
        checkpoints.write({"identity": {"seed": 1}}, 1)
        with self.assertRaisesRegex(Failed, "was made with seed 1, this job has 2"):
            self.resumed("outputs/checkpoints", seed=2)

    def test_nothing_inside_is_run(self) -> None:
        class Evil:
            def __reduce__(self) -> Any:
                return os.mkdir, ("evil",)

        torch.save({"identity": {}, "evil": Evil()}, "evil.pt")
        with self.assertRaisesRegex(Failed, "can be read"):
            self.resumed("evil.pt")
        self.assertFalse(Path("evil").exists())


class Models(Own):
    def test_a_saved_model_answers_as_before_and_twice_the_same_bytes(self) -> None:
        for data in (texts(), images()):
            model = designed_for(data, "small", 1)
            name = model.save(self.folder)
            first = (self.folder / name).read_bytes()
            loaded = load_own(self.folder / name)
            loaded.save(self.folder)
            self.assertEqual((self.folder / name).read_bytes(), first)
            wanted = model.module(*model.encode(data.held_out.items))
            self.assertTrue(torch.equal(loaded.module(*loaded.encode(data.held_out.items)), wanted))

    def test_other_classes_get_a_new_last_layer_and_keep_the_rest(self) -> None:
        model = designed_for(texts(), "small", 1)
        changed = model.with_classes(["a", "b", "c"])
        self.assertTrue(torch.equal(changed.module.words.weight, model.module.words.weight))
        self.assertEqual(changed.module(*changed.encode(["x"])).shape, (1, 3))

    def test_weights_of_others_and_broken_files_are_told(self) -> None:
        from safetensors.torch import save_file

        save_file({"w": torch.zeros(1)}, "foreign.safetensors")
        Path("broken.safetensors").write_bytes(b"\xff" * 20)
        for name, reason in (("foreign", "has nothing, stoker-classifier-1 is needed"), ("broken", "is no whole safetensors file")):
            with self.assertRaisesRegex(Failed, reason):
                load_own(Path(f"{name}.safetensors"))


class Training(Own):
    def test_a_loss_far_above_guessing_is_named_diverging(self) -> None:
        trainer = Trainer(designed_for(images(), "small", 0), images(), Plan(1, 4, 0.01, 0, "sgd", 0), ALONE, {})
        trainer.at.loss, trainer.at.batch = 1000.0, trainer.batches
        with self.assertRaisesRegex(Failed, "training diverges: the loss is .*, guessing has 0.693 .* learning_rate 0.01: lower it"):
            trainer.run()

    def test_images_of_another_shape_are_told_with_both_shapes(self) -> None:
        model = designed_for(images(), "small", 0)
        with self.assertRaisesRegex(Failed, r"images have the shape \[1, 9, 9\], the model takes \[1, 8, 8\]"):
            model.encode(torch.zeros((2, 1, 9, 9), dtype=torch.uint8))


class Facts(Own):
    def test_energy_is_told_where_the_machine_counts_it_and_null_elsewhere(self) -> None:
        with mock.patch.object(envelope, "_RAPL", self.folder):
            self.assertIsNone(envelope.Measured().facts()["energy"])
            counter = self.folder / "intel-rapl:0" / "energy_uj"
            counter.parent.mkdir()
            counter.write_text("1000000\n")
            measured = envelope.Measured()
            counter.write_text("3500000\n")
            self.assertEqual(measured.facts()["energy"], {"joules": 2.5, "of": "the processor package"})

    def test_threads_follow_the_tightest_limit_of_processors(self) -> None:
        inner = self.folder / "a" / "b"
        inner.mkdir(parents=True)
        self.assertIsNone(quota(self.folder, "a/b"))
        (inner / "cpu.max").write_text("max 100000\n")
        self.assertIsNone(quota(self.folder, "a/b"))
        (self.folder / "a" / "cpu.max").write_text("150000 100000\n")
        self.assertEqual(quota(self.folder, "a/b"), 2)

    def test_a_curve_is_a_picture_with_something_on_it(self) -> None:
        row = {"loss": 1.0, "trainLoss": 2.0, "accuracy": 0.5, "trainAccuracy": 0.4}
        for epochs in (1, 30):
            draw_curve(self.folder / "c.png", "t", [{**row, "epoch": number + 1, "loss": 1 / (number + 1)} for number in range(epochs)])
            with Image.open(self.folder / "c.png") as picture:
                self.assertGreater(len(picture.getcolors(100_000) or []), 5)

    def test_errors_of_libraries_become_sentences(self) -> None:
        cases = [
            (MemoryError(), "out of memory (MemoryError): lower batch_size"),
            (RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried"), "out of memory ("),
            (ModuleNotFoundError(name="torch"), "the Python package torch is not installed here"),
            (OSError(28, "No space left on device", "/x"), "the disk is full while writing /x"),
            (RuntimeError("[enforce] Connection closed by peer [127.0.0.1]"), "another rank of this job is gone"),
            (KeyError("x"), "KeyError: 'x'"),
        ]
        for error, sentence in cases:
            self.assertTrue(sentence_of(error).startswith(sentence), sentence_of(error))


def texts() -> Dataset:
    labels = torch.tensor([0, 1] * 6)
    part = Examples(["good day", "bad night"] * 6, labels)
    return Dataset("t", "text", ["bad", "good"], part, part)


def images() -> Dataset:
    part = Examples(torch.arange(8 * 64, dtype=torch.int64).reshape(8, 1, 8, 8).to(torch.uint8), torch.tensor([0, 1] * 4))
    return Dataset("i", "image", ["0", "1"], part, part)


if __name__ == "__main__":
    unittest.main()
