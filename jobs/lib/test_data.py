"""Every form of dataset, and what is said of broken ones."""

import gzip
import json
import struct
import sys
import tempfile
import unittest
from pathlib import Path

import numpy
import torch
from PIL import Image

sys.path.append(str(Path(__file__).resolve().parent))

from program_run import digits_in
from stoker_job.data import Dataset
from stoker_job.data.digits import synthetic_digits
from stoker_job.data.open import read_dataset
from stoker_job.problems import Failed


class Data(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def opened(self, path: Path | None = None, seed: int = 0) -> Dataset:
        return read_dataset("d", path or self.folder, seed)

    def fails(self, reason: str, path: Path | None = None) -> None:
        with self.assertRaisesRegex(Failed, reason):
            self.opened(path)

    def test_idx_files_plain_and_gzipped(self) -> None:
        digits_in(self.folder, 30, 10)
        plain = self.opened()
        for file in list(self.folder.iterdir()):
            file.with_suffix(".gz").write_bytes(gzip.compress(file.read_bytes()))
            file.unlink()
        zipped = self.opened()
        self.assertEqual(plain.fingerprint(), zipped.fingerprint())
        self.assertEqual(list(plain.train.items.shape), [30, 1, 28, 28])
        self.assertEqual(plain.train.labels[:5].tolist(), [5, 0, 4, 1, 9])

    def test_without_held_out_files_a_sixth_is_held_out_by_the_seed(self) -> None:
        digits_in(self.folder, 60, 10)
        for file in self.folder.glob("t10k*"):
            file.unlink()
        first, again, other = self.opened(), self.opened(), self.opened(seed=1)
        self.assertEqual((len(first.train), len(first.held_out)), (50, 10))
        self.assertEqual(first.fingerprint(), again.fingerprint())
        self.assertNotEqual(first.fingerprint(), other.fingerprint())

    def test_broken_idx_files_say_what_is_wrong(self) -> None:
        digits_in(self.folder, 30, 10)
        images, labels = self.folder / "train-images-idx3-ubyte", self.folder / "train-labels-idx1-ubyte"
        whole = images.read_bytes()
        images.write_bytes(whole[:-1])
        self.fails(r"says its shape is \[30, 28, 28\], but it has 23519 bytes")
        images.write_bytes(b"PNG" + whole)
        self.fails("begins with 504e4700, an IDX file of bytes begins with 0000080N")
        images.write_bytes(bytes([0, 0, 8, 3]) + struct.pack(">3I", 0, 28, 28))
        labels.write_bytes(bytes([0, 0, 8, 1]) + struct.pack(">I", 0))
        self.fails("dataset d has no training examples")
        images.write_bytes(whole)
        labels.write_bytes(bytes([0, 0, 8, 2]) + struct.pack(">2I", 30, 2) + bytes(60))
        self.fails(r"labels \[30, 2\], \[n, height, width\] and \[n\] are needed")
        labels.unlink()
        self.fails("but no train-labels-idx1-ubyte")

    def test_pictures_by_class(self) -> None:
        for name, colour in (("red", (255, 0, 0)), ("blue", (0, 0, 255))):
            for number in range(6):
                file = self.folder / name / f"{number}.png"
                file.parent.mkdir(exist_ok=True)
                Image.new("RGB", (8 + number, 8), colour).save(file)
        data = self.opened()
        self.assertEqual((data.classes, list(data.train.items.shape), len(data.held_out)), (["blue", "red"], [10, 3, 8, 8], 2))
        for image, label in zip(data.train.items, data.train.labels, strict=True):
            self.assertEqual(image.float().mean((1, 2)).tolist(), [255, 0, 0] if label else [0, 0, 255])
        (self.folder / "red/0.png").write_bytes(b"no image")
        self.fails("0.png is no image that can be read")

    def test_arrays(self) -> None:
        file = self.folder / "a.npz"
        numpy.savez(file, x_train=numpy.ones((4, 5, 6, 3)), y_train=[0, 1, 2, 1], x_test=numpy.zeros((1, 5, 6, 3)), y_test=[2])
        data = self.opened(file)
        self.assertEqual((list(data.train.items.shape), int(data.train.items.max()), data.held_out.labels.tolist()), ([4, 3, 5, 6], 255, [2]))
        for arrays, reason in (
            ({"x": numpy.zeros((4, 5, 6)), "y": numpy.zeros((4, 2), int)}, r"y of dataset d has the shape \[4, 2\]"),
            ({"x": numpy.zeros((4, 5, 6)), "y": [0.5, 1, 2, 3]}, "one whole number or text"),
            ({"x": numpy.zeros((4, 5)), "y": [0, 1, 0, 1]}, r"x has the shape \[4, 5\]"),
            ({"x": numpy.full((4, 5, 6), 300), "y": [0, 1, 0, 1]}, "values from 300 to 300"),
            ({"x": numpy.zeros((3, 5, 6)), "y": [0, 1, 0, 1]}, "3 training examples and 4 labels"),
            ({"x": numpy.zeros((2, 5, 6)), "y": [1, 1]}, "only the class 1"),
            ({"pixels": numpy.zeros(3)}, "has the arrays pixels, x_train and y_train"),
        ):
            numpy.savez(file, **arrays)
            self.fails(reason, file)

    def test_texts(self) -> None:
        lines = [{"text": f"t{number}", "label": number % 2} for number in range(12)]
        (self.folder / "train.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        (self.folder / "test.csv").write_text('text,label\n"a, b",1\n')
        data = self.opened()
        self.assertEqual((len(data.train), data.held_out.items, data.classes), (12, ["a, b"], ["0", "1"]))
        (self.folder / "test.csv").write_text("text,label\na,7\n")
        self.fails('the held-out examples have the label "7", the training examples have 0, 1')
        (self.folder / "train.jsonl").write_text('{"text": "a", "label": ["x"]}\n')
        self.fails("entry 1 of train.jsonl")
        (self.folder / "train.jsonl").write_text("")
        self.fails("train.jsonl is empty")
        (self.folder / "train.jsonl").write_text("no json\n")
        self.fails("cannot be read as jsonl")

    def test_anything_else_is_told_with_what_is_there(self) -> None:
        (self.folder / "notes.md").write_text("")
        self.fails("dataset d is notes.md; known are IDX files")

    def test_drawn_digits_repeat_by_seed(self) -> None:
        first, again, other = synthetic_digits(1), synthetic_digits(1), synthetic_digits(2)
        self.assertTrue(first.is_synthetic)
        self.assertTrue(torch.equal(first.train.items, again.train.items))
        self.assertNotEqual(first.fingerprint(), other.fingerprint())


if __name__ == "__main__":
    unittest.main()
