"""Makes real pictures with a tiny pipeline built from configs, and compares them with a direct call of diffusers."""

import contextlib
import hashlib
import io
import json
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "lib"))
os.environ.update(HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1")

import diffusers
import numpy
import torch
from PIL import Image
from stoker_job.inputs import check, manifest_of
from stoker_job.problems import Failed, Refused
from tiny_diffusion import tiny_diffusion
from work import work

DECLARED = manifest_of(HERE)["inputs"]
ASKED = {"prompt": "a red house", "steps": 3, "seed": 7, "model": "sd"}
FOLDER = Path()


def setUpModule() -> None:
    global FOLDER
    FOLDER = Path(unittest.enterModuleContext(tempfile.TemporaryDirectory())).resolve()
    tiny_diffusion(FOLDER / "sd")
    unittest.enterModuleContext(contextlib.chdir(FOLDER))
    unittest.enterModuleContext(mock.patch.dict(os.environ, MODEL_PATH="", MODEL_NAME=""))


class InOneProcess(unittest.TestCase):
    def setUp(self) -> None:
        shutil.rmtree("outputs", ignore_errors=True)
        self.said = self.enterContext(contextlib.redirect_stdout(io.StringIO()))

    def made(self, **changed: Any) -> dict[str, Any]:
        return work(check({**ASKED, **changed}, DECLARED))

    def events(self, name: str) -> list[dict[str, Any]]:
        return [event for line in self.said.getvalue().splitlines() if (event := json.loads(line))["event"] == name]


class Pictures(InOneProcess):
    def test_a_picture_is_that_of_a_direct_call_and_says_how_it_was_made(self) -> None:
        result = self.made(negative_prompt="blau ü", guidance=5, width=48, height=32)
        direct = diffusers.DiffusionPipeline.from_pretrained("sd", local_files_only=True)
        direct.set_progress_bar_config(disable=True)
        (wanted,) = direct(
            "a red house", negative_prompt="blau ü", guidance_scale=5, width=48, height=32, num_inference_steps=3,
            generator=torch.Generator().manual_seed(7), output_type="np",
        ).images  # fmt: skip
        with Image.open(Path("outputs") / result["images"][0]) as picture:
            self.assertEqual((picture.format, picture.mode, picture.size), ("PNG", "RGB", (48, 32)))
            self.assertLessEqual(numpy.abs(numpy.asarray(picture) - wanted * 255).max(), 0.51)
            told = picture.text
        self.assertEqual((told["prompt"], told["negative_prompt"], told["seed"], told["steps"], told["guidance"], told["model"]), ("a red house", "blau ü", "7", "3", "5.0", "sd"))
        self.assertIn(f"diffusers {diffusers.__version__}", told["software"])
        self.assertEqual((result["numImages"], result["steps"], result["prompt"], result["device"], result["dtype"]), (1, 3, "a red house", "cpu", "float32"))

    def test_the_same_seed_repeats_byte_for_byte_and_each_picture_has_its_own(self) -> None:
        three, second = self.made(num_images=3), self.made(seed=8)
        self.assertEqual([one["seed"] for one in three["pictures"]], [7, 8, 9])
        first, *others = contents(three)
        self.assertEqual(contents(second), [others[0]])
        self.assertEqual(len({first, *others}), 3)
        self.assertNotEqual(contents(self.made(prompt="a blue dog"))[0], first)
        self.assertEqual(three["images"] + second["images"], [f"image-000{number}.png" for number in (1, 2, 3, 4)])

    def test_every_step_is_told_and_each_picture_as_soon_as_it_is_there(self) -> None:
        result = self.made(num_images=2)
        steps = [event["operation"] for event in self.events("progress") if "step" in event["operation"]]
        self.assertEqual(steps, [f"image {image}/2, step {step}/3" for image in (1, 2) for step in (1, 2, 3)])
        percents = [event["percent"] for event in self.events("progress")]
        self.assertEqual(percents, sorted(percents))
        for event, content in zip(self.events("artifact"), contents(result), strict=True):
            self.assertEqual((event["sha256"], event["size"], event["contentType"]), (hashlib.sha256(content).hexdigest(), len(content), "image/png"))
            self.assertNotIn("base64", event)

    def test_without_a_seed_one_is_drawn_and_told(self) -> None:
        result = self.made(seed=None)
        self.assertEqual(contents(self.made(seed=result["seed"])), contents(result))

    def test_a_safety_checker_is_told_with_what_it_flagged_and_so_is_its_absence(self) -> None:
        self.assertEqual((self.made()["safetyChecker"], self.events("logs")[0]["level"]), (None, "warning"))
        tiny_diffusion(Path("checked"), with_safety_checker=True)
        result = self.made(model="checked")
        self.assertEqual((result["safetyChecker"], result["notes"]), ("StableDiffusionSafetyChecker", []))
        self.assertTrue(result["pictures"][0]["flagged"])
        self.assertFalse(any(Image.open(Path("outputs") / result["images"][0]).tobytes()))

    def test_a_prompt_that_is_cut_is_told(self) -> None:
        self.assertIn("prompt has 22 tokens, the text encoder reads the first 16", self.made(prompt="ab" * 10)["notes"])


class Interrupted(InOneProcess):
    def stopped_in_step(self, step: int, **env: str) -> dict[str, Any]:
        """Asked to stop after so many steps; tells the checkpoint."""
        steps = iter([False] * step)
        with mock.patch.dict(os.environ, env), mock.patch("stoker_job.stop.is_asked", lambda: next(steps, True)), self.assertRaises(SystemExit):
            self.made(num_images=4, seed=None if not env else 7)
        return self.events("checkpoint")[-1]

    def test_pictures_that_are_done_are_not_made_again_and_the_end_is_the_same(self) -> None:
        whole = contents(self.made(num_images=4))
        shutil.rmtree("outputs")
        first = self.stopped_in_step(10, CHECKPOINT_DIR="kept")
        self.assertEqual((first["path"], first["step"]), ("kept/pictures", 2))
        shutil.rmtree("outputs")
        shutil.copytree("kept/pictures", "brought")
        with mock.patch.dict(os.environ, RESUME_FROM="brought", CHECKPOINT_DIR="kept"):
            before = len(self.events("progress"))
            result = self.made(num_images=4)
            made = {event["operation"][:7] for event in self.events("progress")[before:]}
            self.assertEqual((made, result["resumedFrom"], contents(result)), ({"image 3", "image 4"}, {"path": "brought", "step": 2}, whole))
            self.assertEqual([event["name"] for event in self.events("artifact")[-4:]], result["images"])
            with self.assertRaisesRegex(Failed, "were made with prompt a red house, this job has a dog"):
                self.made(num_images=4, prompt="a dog")
            Path("brought/image-0002.png").write_bytes(b"cut")
            shutil.rmtree("outputs")
            self.assertEqual(self.made(num_images=4)["resumedFrom"]["step"], 1)

    def test_a_seed_that_was_drawn_is_gone_on_with_and_nothing_is_left_of_the_way(self) -> None:
        self.stopped_in_step(6)
        shutil.copytree("outputs/checkpoints/pictures", "drawn")
        with mock.patch.dict(os.environ, RESUME_FROM="drawn"):
            result = self.made(num_images=4, seed=None)
        self.assertEqual([one["seed"] for one in result["pictures"]], [result["seed"] + number for number in range(4)])
        self.assertEqual(result["pictures"][0]["sha256"], hashlib.sha256(Path("drawn/image-0001.png").read_bytes()).hexdigest())
        with mock.patch("done._EVERY_SECONDS", -1):
            self.made(num_images=2)
        self.assertFalse(Path("outputs/checkpoints").exists())


class Refusals(InOneProcess):
    def test_what_cannot_be_done_is_a_sentence_and_leaves_nothing(self) -> None:
        Path("empty").mkdir(exist_ok=True)
        shutil.copytree("sd", "gone", ignore=shutil.ignore_patterns("*.safetensors"), dirs_exist_ok=True)
        foreign("evil", vae=["../evil", "Evil"])
        foreign("odd", _class_name="NoPipeline")
        cases = [
            ({"width": 60}, "width is 60, this pipeline takes multiples of 8"),
            ({"steps": 0}, "steps is 0, it must be a whole number from 1 to 1000"),
            ({"model": None}, "model is missing and MODEL_PATH has no model"),
            ({"model": "empty"}, "model empty has nothing, it needs model_index.json"),
            ({"model": "gone"}, "model gone cannot be loaded: .*safetensors"),
            ({"model": "evil"}, "code of models is not run"),
            ({"model": "odd"}, "has no such pipeline"),
            ({"model": "org/model"}, "model org/model is no folder of the job, and the model hub does not give it"),
            ({"revision": "main"}, "has the revision main, which only the hub has"),
            ({"model": None, "revision": "main"}, "revision is main, and no model is named"),
            ({"model": "../sd"}, "lies outside the job's folder"),
            ({"model": "https://example.org/sd.zip"}, "so model_sha256 is needed"),
        ]
        for changed, sentence in cases:
            with self.subTest(changed), self.assertRaisesRegex((Refused, Failed), sentence):
                self.made(**changed)
        with mock.patch.dict(os.environ, WORLD_SIZE="2"), self.assertRaisesRegex(Refused, "pictures are made by one process"):
            self.made()
        self.assertFalse(Path("outputs").exists())

    def test_broken_weights_are_told_and_no_black_picture_is_left(self) -> None:
        from safetensors.torch import load_file, save_file

        shutil.copytree("sd", "broken", dirs_exist_ok=True)
        file = "broken/unet/diffusion_pytorch_model.safetensors"
        save_file({name: value * float("nan") for name, value in load_file(file).items()}, file)
        with self.assertRaisesRegex(Failed, "seed 7 has NaN in it"):
            self.made(model="broken")
        self.assertEqual(list(Path("outputs").glob("*")), [])


def foreign(name: str, **changed: Any) -> None:
    shutil.copytree("sd", name, dirs_exist_ok=True)
    index = Path(name) / "model_index.json"
    index.write_text(json.dumps({**json.loads(index.read_text()), **changed}))


def contents(result: dict[str, Any]) -> list[bytes]:
    return [(Path("outputs") / name).read_bytes() for name in result["images"]]


if __name__ == "__main__":
    unittest.main()
