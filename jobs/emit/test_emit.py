"""Each test runs a small program as a worker would, and looks at its lines and its exit code."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import unittest
from typing import Any, Dict, List, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
SESSION = {"SESSION_ID": "s"}
TIMEOUT_SECONDS = 60


def start(code: str, env: Dict[str, str]) -> "subprocess.Popen[str]":
    given = {"PATH": os.environ["PATH"], "PYTHONPATH": HERE, "TASK_ID": "t", **env}
    pipe = subprocess.PIPE
    words = [sys.executable, "-c", "import emit\n" + textwrap.dedent(code)]
    return subprocess.Popen(words, env=given, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def run(code: str, stdin: str = "", **env: str) -> Tuple[List[Dict[str, Any]], int, str]:
    program = start(code, env)
    out, err = program.communicate(stdin, timeout=TIMEOUT_SECONDS)
    return [json.loads(line) for line in out.splitlines()], program.returncode, err


def names(events: List[Dict[str, Any]]) -> List[str]:
    return [event["event"] for event in events]


class Events(unittest.TestCase):
    def test_each_event_is_one_line_with_its_fields(self) -> None:
        events, code, _ = run(
            """
            emit.connection(model="m")
            emit.worker("loading", "half")
            emit.text_delta("a\\nb")
            emit.text("whole \\u00e9")
            emit.log("odd", "warning")
            emit.progress(40, "epoch 2", loss=0.3)
            emit.metrics(loss=0.2)
            emit.finish(message="done", result={"answer": 42})
            """
        )
        timestamp = events[4].pop("timestamp")
        self.assertRegex(timestamp, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual(code, 0)
        self.assertEqual(
            events,
            [
                {"event": "connection", "status": "connected", "model": "m"},
                {"event": "worker", "status": "loading", "message": "half"},
                {"event": "text_delta", "delta": "a\nb"},
                {"event": "text", "content": "whole \u00e9"},
                {"event": "logs", "log": "odd", "level": "warning"},
                {"event": "progress", "percent": 40, "operation": "epoch 2", "metrics": {"loss": 0.3}},
                {"event": "progress", "percent": 40, "operation": "epoch 2", "metrics": {"loss": 0.2}},
                {"event": "finish", "status": "completed", "message": "done", "result": {"answer": 42}},
            ],
        )

    def test_a_line_arrives_while_the_program_goes_on(self) -> None:
        program = start("emit.connection(); input(); emit.finish()", {})
        assert program.stdout is not None
        self.assertEqual(json.loads(program.stdout.readline())["event"], "connection")
        out, _ = program.communicate("\n", timeout=TIMEOUT_SECONDS)
        self.assertEqual(json.loads(out)["event"], "finish")

    def test_what_json_cannot_say_becomes_null_or_text(self) -> None:
        events, _, _ = run('import pathlib; emit.metrics(loss=float("nan")); emit.log(pathlib.Path("x"))')
        self.assertEqual(events[0]["metrics"], {"loss": None})
        self.assertEqual(events[1]["log"], "x")

    def test_a_long_delta_goes_in_pieces_and_a_longer_event_is_refused(self) -> None:
        events, code, err = run('emit.text_delta("x" * 250_000); emit.text("x" * 2_000_000)')
        self.assertEqual([len(event["delta"]) for event in events], [100_000, 100_000, 50_000])
        self.assertEqual(code, 1)
        self.assertIn("this text has 2000", err)

    def test_lines_of_several_threads_are_not_mixed(self) -> None:
        events, _, _ = run(
            """
            import threading
            def talk(): [emit.text_delta("x" * 5000) for _ in range(50)]
            threads = [threading.Thread(target=talk) for _ in range(4)]
            [one.start() for one in threads]
            [one.join() for one in threads]
            """
        )
        self.assertEqual(len(events), 200)


class OneOff(unittest.TestCase):
    def test_the_task_comes_from_the_environment(self) -> None:
        events, code, _ = run(
            """
            with emit.program():
                for task in emit.tasks():
                    with task: emit.text(task.id + task.metadata["topic"])
            """,
            TASK_METADATA='{"topic": "x"}',
        )
        self.assertEqual((names(events), code), (["connection", "text", "finish"], 0))
        self.assertEqual(events[1], {"event": "text", "content": "tx"})

    def test_a_program_without_tasks_has_its_one_finish(self) -> None:
        events, code, _ = run('with emit.program(): emit.text("a")')
        self.assertEqual((names(events), code), (["connection", "text", "finish"], 0))

    def test_an_error_is_a_failed_finish_and_a_code(self) -> None:
        for body in ("with emit.program(): 1 / 0", "with emit.program():\n for t in emit.tasks():\n  with t: 1 / 0"):
            events, code, err = run(body)
            self.assertEqual(events[1:], [{"event": "finish", "status": "failed", "error": "ZeroDivisionError: division by zero"}])
            self.assertEqual(code, 1)
            self.assertEqual(err.count("Traceback"), 1)

    def test_an_exit_is_told_as_what_it_is(self) -> None:
        for words, status, code in (("0", "completed", 0), ("", "completed", 0), ("3", "failed", 3), ('"no"', "failed", 1)):
            events, ended, _ = run(f"import sys\nwith emit.program(): sys.exit({words})")
            self.assertEqual((events[-1]["status"], ended, len(events)), (status, code, 2))

    def test_a_second_finish_is_not_sent(self) -> None:
        events, code, err = run('with emit.program():\n emit.finish("failed", error="a")\n emit.finish()')
        self.assertEqual((names(events), code), (["connection", "finish"], 0))
        self.assertIn("finish already", err)

    def test_a_request_to_stop_runs_finally_and_says_so(self) -> None:
        program = start(
            """
            import time
            with emit.program():
                try:
                    emit.worker("working")
                    time.sleep(600)
                finally: emit.worker("cleaning_up")
            """,
            {},
        )
        assert program.stdout is not None
        [program.stdout.readline() for _ in range(2)]
        program.send_signal(signal.SIGTERM)
        out, _ = program.communicate(timeout=TIMEOUT_SECONDS)
        events = [json.loads(line) for line in out.splitlines()]
        self.assertEqual((names(events), program.returncode), (["worker", "finish"], 143))
        self.assertEqual(events[1]["error"], "stopped by SIGTERM")


class Session(unittest.TestCase):
    LOOP = """
        with emit.program():
            for task in emit.tasks():
                with task: emit.text(str(10 / task.metadata["by"]))
        """

    def test_each_line_is_a_task_with_its_own_finish_and_a_failed_one_ends_only_itself(self) -> None:
        lines = [{"task_id": str(i), "metadata": {"by": by}} for i, by in enumerate((2, 0, 5))]
        stdin = "\n".join(["", *map(json.dumps, lines), "no json", "[1]", ""])
        events, code, err = run(self.LOOP, stdin, **SESSION)
        told = [(e["event"], e.get("task_id"), e.get("status")) for e in events]
        self.assertEqual(
            told,
            [
                ("connection", None, "connected"),
                ("worker", None, "ready"),
                ("text", "0", None),
                ("finish", "0", "completed"),
                ("finish", "1", "failed"),
                ("text", "2", None),
                ("finish", "2", "completed"),
                ("finish", None, "failed"),
                ("finish", None, "failed"),
            ],
        )
        self.assertEqual((code, err.count("Traceback")), (0, 1))

    def test_an_answer_comes_before_the_next_task_is_asked_for(self) -> None:
        program = start(self.LOOP, SESSION)
        assert program.stdin is not None and program.stdout is not None
        watchdog = threading.Timer(TIMEOUT_SECONDS, program.kill)
        watchdog.start()
        self.assertEqual([json.loads(program.stdout.readline())["event"] for _ in range(2)], ["connection", "worker"])
        for by in (1, 2):
            program.stdin.write(json.dumps({"task_id": "t", "metadata": {"by": by}}) + "\n")
            program.stdin.flush()
            self.assertEqual(json.loads(program.stdout.readline())["content"], str(10 / by))
            self.assertEqual(json.loads(program.stdout.readline())["event"], "finish")
        program.communicate(timeout=TIMEOUT_SECONDS)
        watchdog.cancel()
        self.assertEqual(program.returncode, 0)

    def test_an_error_while_loading_answers_the_task_that_waits(self) -> None:
        events, code, _ = run('with emit.program(): raise OSError("no model")', "{}\n", **SESSION)
        self.assertEqual(events[-1], {"event": "finish", "status": "failed", "error": "OSError: no model"})
        self.assertEqual(code, 1)

    def test_a_session_that_is_stopped_while_it_waits_says_no_finish(self) -> None:
        program = start(self.LOOP, SESSION)
        assert program.stdout is not None
        [program.stdout.readline() for _ in range(2)]
        program.send_signal(signal.SIGTERM)
        out, _ = program.communicate(timeout=TIMEOUT_SECONDS)
        self.assertEqual((out, program.returncode), ("", 143))


if __name__ == "__main__":
    unittest.main()
