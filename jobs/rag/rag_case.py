"""What the tests of rag share: a folder with a tiny encoder and tiny language models built from configs, and one way to ask."""

import contextlib
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

from sample_data import tiny_bert
from sample_language import tiny_llama
from stoker_job.inputs import check, manifest_of
from work import work

DECLARED = manifest_of(HERE)["inputs"]
DOCUMENTS = ["the house was lovely", "a cruel day", {"id": "train", "text": "the train was broken today", "year": 1999}, "very very dull"]
ASKED = {"embedding": "bert", "documents": DOCUMENTS, "query": "the train was broken today", "search": {"top_k": 2}}


def enter_models() -> None:
    """For `setUpModule`: the tests of the module run in the folder."""
    folder = Path(unittest.enterModuleContext(tempfile.TemporaryDirectory())).resolve()
    tiny_bert(folder / "bert")
    tiny_llama(folder / "lm", chat_template=None, window=512)
    tiny_llama(folder / "chat", window=512)
    unittest.enterModuleContext(contextlib.chdir(folder))
    unittest.enterModuleContext(mock.patch.dict(os.environ, MODEL_PATH="", MODEL_NAME=""))


class Rag(unittest.TestCase):
    def setUp(self) -> None:
        shutil.rmtree("outputs", ignore_errors=True)
        self.said = self.enterContext(contextlib.redirect_stdout(io.StringIO()))

    def asked(self, **changed: Any) -> dict[str, Any]:
        return work(check({**ASKED, **changed}, DECLARED))

    def deltas(self) -> str:
        events = [json.loads(line) for line in self.said.getvalue().splitlines()]
        return "".join(event["delta"] for event in events if event["event"] == "text_delta")
