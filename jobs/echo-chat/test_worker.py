"""Runs the echo as a session, with several tasks at once."""

import json
import os
import subprocess
import sys
import unittest
from typing import Any, Dict, List

HERE = os.path.dirname(os.path.abspath(__file__))


def ask(*requests: Dict[str, Any]) -> List[List[Dict[str, Any]]]:
    lines = [json.dumps({"task_id": str(i), "metadata": request}) for i, request in enumerate(requests)]
    env = {"PATH": os.environ["PATH"], "SESSION_ID": "s"}
    words = [sys.executable, os.path.join(HERE, "worker.py")]
    stdin = "".join(line + "\n" for line in lines)
    ran = subprocess.run(words, env=env, input=stdin, stdout=subprocess.PIPE, text=True, timeout=60, check=True)
    events = [json.loads(line) for line in ran.stdout.splitlines()]
    return [[event for event in events if event.get("task_id") == str(i)] for i in range(len(requests))]


def chat(text: Any, **more: Any) -> Dict[str, Any]:
    return {"kind": "chat", "messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": text}], **more}


class EchoChat(unittest.TestCase):
    def test_chats_come_back_word_by_word_each_with_its_task(self) -> None:
        plain, parts = ask(chat("one  two\nthree"), chat([{"type": "text", "text": "four"}]))
        self.assertEqual([event["delta"] for event in plain if event["event"] == "text_delta"], ["one", "  two", "\nthree"])
        self.assertEqual(plain[-2]["content"], "one  two\nthree")
        self.assertEqual(plain[-1]["result"]["usage"], {"prompt_tokens": 5, "completion_tokens": 3})
        self.assertEqual(parts[-2]["content"], "four")

    def test_a_limit_is_the_reason_of_the_end(self) -> None:
        ((*_, text, finish),) = ask({"kind": "completion", "prompt": "a b c", "max_tokens": 2})
        self.assertEqual((text["content"], finish["result"]["finish_reason"]), ("a b", "length"))

    def test_embeddings_are_of_length_one_and_alike_for_alike_texts(self) -> None:
        ((*_, finish),) = ask({"kind": "embedding", "input": ["Fire and ice", "ice and fire", "water"], "dimensions": 64})
        first, second, third = finish["result"]["embeddings"]
        self.assertEqual((first, len(third)), (second, 64))
        self.assertNotEqual(first, third)
        self.assertAlmostEqual(sum(value * value for value in first), 1)

    def test_another_kind_fails_and_the_program_goes_on(self) -> None:
        wrong, right = ask({"kind": "image"}, chat("hi"))
        self.assertEqual(wrong[-1]["status"], "failed")
        self.assertIn("chat, completion and embedding", wrong[-1]["error"])
        self.assertEqual(right[-1]["status"], "completed")


if __name__ == "__main__":
    unittest.main()
