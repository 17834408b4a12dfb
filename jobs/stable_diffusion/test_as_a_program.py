"""Runs the program as a worker would: as a session, and asked to stop between two steps."""

import base64
import json
import os
import shutil
import signal
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))
os.environ["OMP_NUM_THREADS"] = "1"

from program_run import ended, run, start
from tiny_diffusion import tiny_diffusion


class AsAProgram(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        tiny_diffusion(cls.folder / "sd")

    def tearDown(self) -> None:
        shutil.rmtree(self.folder / "outputs", ignore_errors=True)

    def test_a_session_keeps_the_pipeline_and_sends_the_pictures_along(self) -> None:
        asked = [{"steps": 2, "seed": 1, "num_images": 2}, {"steps": 2, "colour": "red"}, {"steps": 2, "seed": 2}]
        lines = "".join(json.dumps({"task_id": str(number), "metadata": given}) + "\n" for number, given in enumerate(asked))
        ran = run("stable_diffusion", self.folder, {}, lines, SESSION_ID="s", MODEL_PATH=str(self.folder / "sd"), MODEL_NAME="tiny")
        first, refused, last = ran.named("finish")
        self.assertEqual([event["status"] for event in (first, refused, last)], ["completed", "failed", "completed"], ran.stderr)
        self.assertIn("the input colour is unknown", refused["error"])
        self.assertEqual(len([event for event in ran.named("worker") if event["status"] == "loading"]), 1)
        told = [(event["task_id"], event["name"], base64.b64decode(event["base64"])) for event in ran.named("artifact")]
        self.assertEqual([(task, name) for task, name, _ in told], [("0", "image-0001.png"), ("0", "image-0002.png"), ("2", "image-0003.png")])
        for _, name, content in told:
            self.assertEqual((self.folder / "outputs" / name).read_bytes(), content)
        self.assertEqual(told[1][2], told[2][2])
        self.assertEqual([one["name"] for one in last["result"]["artifacts"]], ["image-0003.png"])
        self.assertEqual((last["result"]["jobType"], last["result"]["status"], last["result"]["model"]["name"]), ("stable_diffusion", "success", "tiny"))
        self.assertIn("diffusers", last["result"]["versions"])
        self.assertEqual(ran.code, 0)

    def test_asked_to_stop_it_leaves_between_steps_and_only_whole_pictures(self) -> None:
        inputs = {"model": "sd", "steps": 500, "num_images": 500, "seed": 1}
        program = start("stable_diffusion", self.folder, inputs)
        assert program.stdout is not None
        said = ""
        while "image 1/500, step 5/500" not in said:
            said += program.stdout.readline()
        os.kill(program.pid, signal.SIGTERM)
        ran = ended(program, said=said)
        self.assertEqual((ran.code, ran.finish["status"], ran.finish["error"]), (143, "failed", "stopped by SIGTERM"), ran.stderr)
        self.assertEqual(len(ran.named("artifact")), len(list((self.folder / "outputs").glob("*")) if (self.folder / "outputs").exists() else []))


if __name__ == "__main__":
    unittest.main()
