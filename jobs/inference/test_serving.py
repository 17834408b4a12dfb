"""The program as a worker runs it: one-off, as a session of the OpenAI endpoint, and when it is asked to stop."""

import base64
import contextlib
import io
import json
import os
import signal
import struct
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from program_run import Ran, ended, run, start
from sample_data import tiny_bert
from sample_language import direct, tiny_llama
from stoker_job.problems import Refused

HELLO = [{"role": "user", "content": "hello"}]
_LONG = 100_000


def setUpModule() -> None:
    global FOLDER
    FOLDER = Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    tiny_llama(FOLDER / "llama", window=_LONG)


def session(*tasks: dict[str, Any], **env: str) -> Ran:
    lines = [json.dumps({"task_id": str(number), "metadata": task}) + "\n" for number, task in enumerate(tasks)]
    return run("inference", FOLDER, {}, "".join(lines), SESSION_ID="s", **env)


class Serving(unittest.TestCase):
    def test_a_loaded_model_answers_chats_completions_and_embeddings(self) -> None:
        short = {"temperature": 0, "max_tokens": 12}
        parts = [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]
        ran = session(
            {"kind": "chat", "model": "served", "stream": True, "messages": HELLO, **short},
            {"kind": "chat", "messages": [{"role": "user", "content": parts}], "system_prompt": "be kind", "temperature": 0, "max_completion_tokens": 12},
            {"kind": "completion", "prompt": "hello", "stop": None, **short},
            {"kind": "completion", "prompt": [75, 72], **short},
            {"kind": "embedding", "input": ["hello", "a longer text", [75, 72]]},
            {"kind": "embedding", "input": ["hello"], "dimensions": 7},
            {"kind": "chat", "messages": HELLO, "tools": [{"type": "function"}]},
            {"kind": "chat", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            {"kind": "image"},
            {"data": ["hello"], "inference": short},
            MODEL_PATH=str(FOLDER / "llama"),
        )
        self.assertEqual(ran.code, 0, ran.stderr)
        self.assertEqual([event["status"] for event in ran.named("worker")[:2]], ["loading", "ready"])
        finished = ran.named("finish")
        self.assertEqual([event["status"] for event in finished], ["completed"] * 5 + ["failed"] * 4 + ["completed"])
        self._writes(ran, finished)
        self._embeds(finished[4]["result"])
        for event, sentence in zip(finished[5:], ["dimensions is 7, the vectors of llama have 32", "tools is", "reads texts only", "serves chat, completion, embedding"]):
            self.assertIn(sentence, event["error"])
        self.assertEqual(finished[9]["result"]["items"][0]["output"], ran.named("text")[2]["content"])

    def _writes(self, ran: Ran, finished: list[dict[str, Any]]) -> None:
        prompts = ["user: hello\nassistant: ", "system: be kind\nuser: hello\nassistant: ", "hello"]
        for number, prompt in enumerate(prompts):
            tokens, text = direct(FOLDER / "llama", prompt, max_new_tokens=12, do_sample=False)
            self.assertEqual(ran.named("text")[number]["content"], text)
            pieces = [event["delta"] for event in ran.named("text_delta") if event["task_id"] == str(number)]
            self.assertEqual("".join(pieces), text)
            result = finished[number]["result"]
            self.assertEqual(result["usage"], {"prompt_tokens": len(prompt), "completion_tokens": len(tokens), "total_tokens": len(prompt) + len(tokens)})
            self.assertEqual(result["output"], text)
            self.assertEqual((result["finish_reason"], result["model"], result["engine"], result["jobType"]), ("length", "llama", "transformers", "inference"))
        self.assertEqual(finished[3]["result"]["usage"]["prompt_tokens"], 2)

    def _embeds(self, result: dict[str, Any]) -> None:
        import torch
        import transformers

        tokenizer = transformers.AutoTokenizer.from_pretrained(FOLDER / "llama")
        inner = transformers.AutoModel.from_pretrained(FOLDER / "llama").eval()
        self.assertEqual((result["dimensions"], result["usage"]["prompt_tokens"]), (32, 5 + 13 + 2))
        for text, packed in zip(["hello", "a longer text"], result["embeddings"]):
            given = struct.unpack("<32f", base64.b64decode(packed))
            with torch.inference_mode():
                mean = inner(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].mean(0)
            wanted = (mean / mean.norm()).tolist()
            self.assertAlmostEqual(sum(one * one for one in given), 1, places=5)
            for one, other in zip(given, wanted):
                self.assertAlmostEqual(one, other, places=5)

    def test_an_encoder_embeds_and_does_not_write(self) -> None:
        import serve

        tiny_bert(FOLDER / "encoder")
        config = json.loads((FOLDER / "encoder/config.json").read_text())
        (FOLDER / "encoder/config.json").write_text(json.dumps({**config, "architectures": ["BertModel"]}))
        self.enterContext(mock.patch.dict(os.environ, MODEL_PATH=str(FOLDER / "encoder")))
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        serve.prepare()
        alone, pair = (serve.serve({"kind": "embedding", "input": given}) for given in (["the day"], ["the day", "a very dull day today"]))
        self.assertEqual((alone["dimensions"], alone["model"]), (32, "encoder"))
        for one, other in zip(*(struct.unpack("<32f", base64.b64decode(given["embeddings"][0])) for given in (alone, pair))):
            self.assertAlmostEqual(one, other, places=5)
        with self.assertRaisesRegex(Refused, "the model encoder does not write"):
            serve.serve({"kind": "chat", "messages": HELLO})

    def test_a_session_without_its_model_says_so_before_it_is_ready(self) -> None:
        spec = json.dumps({"source": {"identifier": "./gone"}})
        ran = session({"kind": "chat", "messages": HELLO}, MODEL_SPEC=spec)
        self.assertEqual((ran.code, ran.named("worker")), (1, []))
        self.assertIn("model ./gone does not exist", ran.finish["error"])


    def test_an_answer_that_is_being_written_stops(self) -> None:
        program = start("inference", FOLDER, {}, SESSION_ID="s", MODEL_PATH=str(FOLDER / "llama"))
        assert program.stdin is not None and program.stdout is not None
        program.stdin.write(json.dumps({"task_id": "1", "metadata": {"kind": "chat", "messages": HELLO, "max_tokens": _LONG // 2}}) + "\n")
        program.stdin.flush()
        said = ""
        while '"text_delta"' not in said:
            said += program.stdout.readline()
        program.send_signal(signal.SIGTERM)
        ran = ended(program, said=said)
        self.assertEqual((ran.code, ran.finish["status"], ran.finish["error"]), (143, "failed", "stopped by SIGTERM"))
        self.assertLess(len(ran.named("text_delta")), _LONG // 4)


if __name__ == "__main__":
    unittest.main()
