"""Killed, asked to stop, and shared by two ranks: the end is that of a run nobody disturbed."""

import shutil
import signal
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from ending import ending_after
from program_run import run
from tiny_language import facts_in, tiny_llama

INPUTS = {
    "model": "base",
    "data": {"jsonl": {"path": "facts.jsonl", "prompt_field": "q", "response_field": "a"}},
    "training": {"num_train_epochs": 3, "batch_size": 2, "learning_rate": 0.005, "logging_steps": 12, "save_steps": 6},
}
#: Two ranks add up in another order; after 24 steps the losses differed by less than 1e-6.
TOLERANCE = 1e-4


class Interrupted(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        tiny_llama(cls.folder / "base")
        facts_in(cls.folder / "facts.jsonl", 48)
        cls.whole = run("sft", cls.folder, INPUTS).result
        shutil.rmtree(cls.folder / "outputs")

    def tearDown(self) -> None:
        shutil.rmtree(self.folder / "outputs", ignore_errors=True)

    def test_killed_then_asked_to_stop_it_goes_on_to_exactly_the_same_end(self) -> None:
        killed = run("sft", self.folder, INPUTS, **ending_after(2, signal.SIGKILL, self.folder))
        self.assertEqual(killed.code, -signal.SIGKILL)
        asked = run("sft", self.folder, INPUTS, RESUME_FROM="outputs/checkpoints", **ending_after(1, signal.SIGTERM, self.folder))
        self.assertEqual((asked.code, asked.finish["status"], asked.finish["error"]), (143, "failed", "stopped by SIGTERM"))
        self.assertEqual([event["step"] for event in asked.named("checkpoint")], [18, 19])
        kept = sorted(one.name for one in (self.folder / "outputs/checkpoints").glob("step-*"))
        last = asked.named("checkpoint")[-1]
        self.assertEqual((len(kept), kept[-1]), (2, Path(last["path"]).name))
        result = run("sft", self.folder, INPUTS, RESUME_FROM=last["path"]).result
        self.assertEqual(result["resumedFrom"], {"path": last["path"], "step": last["step"]})
        self.assertEqual(result["trainingMetrics"][2:], self.whole["trainingMetrics"][2:])
        self.assertEqual(result["weightsSha256"], self.whole["weightsSha256"])

    def test_two_ranks_come_to_the_end_of_one_and_the_first_speaks_for_both(self) -> None:
        shared = {**INPUTS, "training": {**INPUTS["training"], "batch_size": 1, "nproc_per_node": 2}}
        ran = run("sft", self.folder, shared)
        self.assertEqual((ran.result["ranks"], ran.code), (2, 0), ran.stderr)
        for mine, theirs in zip(ran.result["trainingMetrics"], self.whole["trainingMetrics"], strict=True):
            self.assertAlmostEqual(mine["loss"], theirs["loss"], delta=TOLERANCE)
        self.assertEqual(len(ran.named("finish")), 1)

    def test_a_rank_that_fails_stops_all_and_is_the_reason(self) -> None:
        (self.folder / "unlucky").mkdir()
        words = "import os\nif os.environ.get('RANK') == '1':\n    os.write(2, b'no luck on this device\\n')\n    os._exit(7)\n"
        (self.folder / "unlucky/sitecustomize.py").write_text(words)
        ran = run("sft", self.folder, {**INPUTS, "training": {"nproc_per_node": 2}}, PYTHONPATH=str(self.folder / "unlucky"))
        self.assertEqual((ran.code, ran.finish["error"]), (1, "rank 1 ended with code 7: no luck on this device"))


if __name__ == "__main__":
    unittest.main()
