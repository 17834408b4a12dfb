"""Killed, asked to stop, and shared by two ranks: the end is that of a run nobody disturbed."""

import os
import shutil
import signal
import socket
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from program_run import Ran, digits_in, ended, run, start

INPUTS = {"dataset": "digits", "epochs": 2, "batch_size": 30, "seed": 3, "checkpoint_every": 3}
TOLERANCE = 1e-3


class Interrupted(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        digits_in(cls.folder / "digits", 500, 100)
        cls.whole = run("mnist_training", cls.folder, INPUTS).result
        shutil.rmtree(cls.folder / "outputs")

    def tearDown(self) -> None:
        shutil.rmtree(self.folder / "outputs", ignore_errors=True)

    def test_killed_then_asked_to_stop_it_goes_on_to_exactly_the_same_end(self) -> None:
        killed = self.stopped_after(2, signal.SIGKILL)
        self.assertEqual(killed.code, -signal.SIGKILL)
        asked = self.stopped_after(2, signal.SIGTERM, RESUME_FROM="outputs/checkpoints")
        self.assertEqual((asked.code, asked.finish["status"], asked.finish["error"]), (143, "failed", "stopped by SIGTERM"))
        last = asked.named("checkpoint")[-1]
        self.assertTrue((self.folder / last["path"]).is_file())
        result = run("mnist_training", self.folder, INPUTS, RESUME_FROM=last["path"]).result
        self.assertEqual(result["resumedFrom"], {"path": last["path"], "step": last["step"]})
        self.assertGreaterEqual(last["step"], 12)
        self.assertEqual(result["trainingMetrics"], self.whole["trainingMetrics"])
        self.assertEqual(weights_of(result), weights_of(self.whole))

    def test_two_ranks_come_to_the_end_of_one(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        shared = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "GLOO_SOCKET_IFNAME": "lo"}
        programs = [start("mnist_training", self.folder, INPUTS, RANK=str(rank), LOCAL_RANK=str(rank), **shared) for rank in (0, 1)]
        first, second = [ended(program) for program in programs]
        self.assertEqual((second.code, second.events), (0, []), second.stderr)
        self.assertEqual(first.result["ranks"], 2)
        for mine, theirs in zip(first.result["trainingMetrics"], self.whole["trainingMetrics"], strict=True):
            self.assertAlmostEqual(mine["trainLoss"], theirs["trainLoss"], delta=TOLERANCE)
            self.assertAlmostEqual(mine["loss"], theirs["loss"], delta=TOLERANCE)

    def stopped_after(self, checkpoints: int, how: signal.Signals, **env: str) -> Ran:
        """Sends the signal at whatever batch it is in after so many checkpoints."""
        program = start("mnist_training", self.folder, INPUTS, **env)
        assert program.stdout is not None
        said = ""
        while said.count('"checkpoint"') < checkpoints:
            said += program.stdout.readline()
        os.kill(program.pid, how)
        return ended(program, said=said)


def weights_of(result: dict[str, Any]) -> str:
    return next(one["sha256"] for one in result["artifacts"] if one["name"] == "model.safetensors")


if __name__ == "__main__":
    unittest.main()
