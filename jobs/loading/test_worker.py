"""Runs the example as a worker would, once and as a session."""

import json
import os
import subprocess
import sys
import unittest
from typing import Any, Dict, List, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
QUICK = {"METADATA_STEPS": "2", "METADATA_STEP_SECONDS": "0"}


def run(stdin: str = "", **env: str) -> Tuple[List[Dict[str, Any]], int]:
    given = {"PATH": os.environ["PATH"], "MODEL_NAME": "m", "TASK_ID": "t", "TASK_METADATA": "{}", **QUICK, **env}
    words = [sys.executable, os.path.join(HERE, "worker.py")]
    ran = subprocess.run(words, env=given, input=stdin, stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    return [json.loads(line) for line in ran.stdout.splitlines()], ran.returncode


def told(events: List[Dict[str, Any]]) -> List[str]:
    kept = [event for event in events if event["event"] != "text_delta"]
    return [event["event"] + ":" + str(event.get("status", "")) for event in kept]


LOADING = ["connection:connected", "worker:initializing", "worker:loading", "progress:", "progress:"]
TASK = ["worker:working", "text:", "worker:cleaning_up", "finish:completed"]


class Loading(unittest.TestCase):
    def test_once(self) -> None:
        events, code = run(TASK_METADATA='{"topic": "fire"}')
        self.assertEqual((told(events), code), (LOADING + TASK, 0))
        deltas = "".join(event["delta"] for event in events if event["event"] == "text_delta")
        whole = [event["content"] for event in events if event["event"] == "text"]
        self.assertEqual([deltas], whole)
        self.assertIn("about fire", deltas)
        self.assertEqual(events[0]["model"], "m")

    def test_as_a_session_it_loads_once(self) -> None:
        lines = [{"task_id": str(i), "metadata": {"topic": str(i), "fail": i == 1}} for i in range(3)]
        events, code = run("".join(json.dumps(line) + "\n" for line in lines), SESSION_ID="s")
        failed = ["worker:working", "finish:failed"]
        self.assertEqual((told(events), code), (LOADING + ["worker:ready"] + TASK + failed + TASK, 0))

    def test_a_failure_is_told_and_has_a_code(self) -> None:
        events, code = run(TASK_METADATA='{"fail": true}')
        self.assertEqual(events[-1], {"event": "finish", "status": "failed", "error": "RuntimeError: told to fail"})
        self.assertEqual(code, 1)


if __name__ == "__main__":
    unittest.main()
