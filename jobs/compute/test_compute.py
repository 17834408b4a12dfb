"""The amount that was declared, no more and no less."""

import hashlib
import json
import os
import signal
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from program_run import ended, run, start


class Compute(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_arithmetic_and_hashes_come_to_what_they_must(self) -> None:
        value = 7
        for _ in range(120_001):
            value = (value * 1_103_515_245 + 12_345) % 2_147_483_648
        digest = b"7"
        for _ in range(5_000):
            digest = hashlib.sha256(digest + bytes(3)).digest()
        cases = [
            ({"iterations": 120_001, "seed": 7}, 120_001, value),
            ({"kind": "hash", "iterations": 5_000, "seed": 7, "size": 3}, 5_000, digest.hex()),
        ]
        for inputs, iterations, wanted in cases:
            result = run("compute", self.folder, inputs).result
            data = result["computationData"]
            self.assertEqual((data["iterations"], data["result"]), (iterations, wanted))
            self.assertAlmostEqual(data["iterationsPerSecond"] * data["seconds"], iterations, delta=1)
            self.assertEqual((result["device"], result["engine"]), ("cpu", "builtin"))

    def test_matrices_are_multiplied_by_torch_and_repeat_by_seed(self) -> None:
        task = json.dumps({"task_id": "1", "metadata": {"kind": "matmul", "iterations": 5, "size": 64}}) + "\n"
        ran = run("compute", self.folder, {}, 2 * task, SESSION_ID="s")
        first, again = (event["result"] for event in ran.named("finish"))
        self.assertEqual(first["engine"], "torch")
        self.assertGreater(first["computationData"]["result"], 0)
        self.assertEqual(first["computationData"]["result"], again["computationData"]["result"])

    def test_an_unknown_kind_is_refused_with_those_there_are(self) -> None:
        error = run("compute", self.folder, {"kind": "sum"}).finish["error"]
        self.assertEqual(error, 'kind is the text "sum", it must be one of arithmetic, hash, matmul')

    def test_it_ends_soon_when_asked_to(self) -> None:
        program = start("compute", self.folder, {"iterations": 10**12})
        assert program.stdout is not None
        said = ""
        while "iteration" not in said:
            said += program.stdout.readline()
        os.kill(program.pid, signal.SIGTERM)
        ran = ended(program, said=said)
        self.assertEqual((ran.code, ran.finish["error"]), (143, "stopped by SIGTERM"))


if __name__ == "__main__":
    unittest.main()
