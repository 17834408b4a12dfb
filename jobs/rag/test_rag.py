"""Searches with a tiny encoder, compared with direct calls of transformers; what is refused; the program as a session."""

import json
import shutil
import unittest
from pathlib import Path
from typing import Any

from rag_case import ASKED, DOCUMENTS, Rag, enter_models

import numpy
import torch
import transformers
from program_run import run
from stoker_job.problems import Failed, Refused


def setUpModule() -> None:
    enter_models()


class Search(Rag):
    def test_what_is_found_is_nearest_by_a_direct_call_of_the_encoder(self) -> None:
        texts = [one if isinstance(one, str) else one["text"] for one in DOCUMENTS]
        wanted = direct(texts) @ direct(["a lovely train"])[0]
        result = self.asked(query="a lovely train", search={"top_k": 4})
        ids = [0, 1, "train", 3]
        order = numpy.argsort(-wanted)
        (found,) = result["queries"]
        self.assertEqual([one["id"] for one in found["items"]], [ids[at] for at in order])
        for item, at in zip(found["items"], order, strict=True):
            self.assertAlmostEqual(item["score"], float(wanted[at]), places=5)
        self.assertEqual((found["index"], found["query"], found["answer"], found["sources"]), (0, "a lovely train", None, [one["id"] for one in found["items"]]))
        self.assertEqual((result["ok"], result["executor"], result["qdrant"], result["search"]), (True, "rag", None, {"top_k": 4}))
        self.assertEqual((result["embedding"]["model"], result["embedding"]["pooling"]), ("bert", "mean"))
        self.assertEqual((result["usage"]["num_queries"], result["usage"]["total_results"]), (1, 4))
        self.assertEqual(json.loads(Path("outputs/queries.json").read_text())["queries"], result["queries"])

    def test_a_text_finds_itself_with_all_that_was_said_of_it(self) -> None:
        best = self.asked()["queries"][0]["items"][0]
        self.assertEqual((best["id"], best["payload"]), ("train", {"text": "the train was broken today", "year": 1999}))
        self.assertAlmostEqual(best["score"], 1, places=5)
        self.assertTrue(self.deltas().startswith("1.000  train  the train was broken today\n"))

    def test_documents_come_from_files_of_every_form_and_long_ones_in_pieces(self) -> None:
        Path("files").mkdir(exist_ok=True)
        Path("files/a.jsonl").write_text("".join(json.dumps({"id": f"j{number}", "text": text}) + "\n" for number, text in enumerate(["a house", "a day"])))
        Path("files/b.csv").write_text("id,text\nc,the train\n")
        Path("files/c.md").write_text("# House\n\nthe house\nwas lovely\n\n\na day\n")
        Path("files/d.txt").write_text(" ".join(["dull"] * 40 + ["bright"] * 20))
        result = self.asked(documents="files", query="bright", search={"top_k": 100})
        items = {item["id"]: item["payload"] for item in result["queries"][0]["items"]}
        self.assertEqual(result["documents"], 6)
        self.assertEqual(items["c.md#1"], {"text": "# House\nthe house\nwas lovely", "file": "c.md"})
        pieces = [items[f"d.txt#1/{number}"]["text"].split() for number in (1, 2)]
        self.assertEqual([len(piece) for piece in pieces], [32, 32])
        self.assertEqual(pieces[0] + pieces[1][4:], ["dull"] * 40 + ["bright"] * 20)
        self.assertEqual(result["queries"][0]["items"][0]["id"], "d.txt#1/2")
        behind = self.asked(documents="files", query="bright", search={"top_k": 100}, embedding={"model": "bert", "document_prefix": "the a house day "})
        self.assertEqual(max(len(item["payload"]["text"].split()) for item in behind["queries"][0]["items"]), 28)

    def test_pooling_is_what_the_folder_says(self) -> None:
        shutil.copytree("bert", "cls", dirs_exist_ok=True)
        Path("cls/1_Pooling").mkdir()
        Path("cls/1_Pooling/config.json").write_text(json.dumps({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}))
        result = self.asked(embedding={"model": "cls"}, query="a house", documents=["a day"])
        self.assertEqual(result["embedding"]["pooling"], "cls")
        self.assertAlmostEqual(result["queries"][0]["items"][0]["score"], float(direct(["a day"], "cls")[0] @ direct(["a house"], "cls")[0]), places=5)
        Path("cls/modules.json").write_text(json.dumps([{"type": "sentence_transformers.models.Dense"}]))
        with self.assertRaisesRegex(Failed, "has a part Dense"):
            self.asked(embedding={"model": "cls", "batch_size": 2})


class Questions(Rag):
    def queries(self, **data: Any) -> list[dict[str, Any]]:
        upstream = {"first": {"result": {"items": [{"output": "a lovely {col1_value} day"}]}}}
        return self.asked(query=None, data=data, _upstreamResults=upstream)["queries"]

    def test_lists_datasets_and_templates_ask_and_keep_their_metadata(self) -> None:
        told = self.queries(type="list", items=["a day", "a house"], metadata=[{"k": 1}, {}])
        self.assertEqual([(one["index"], one["query"], one.get("metadata")) for one in told], [(0, "a day", {"k": 1}), (1, "a house", None)])
        Path("asked").mkdir(exist_ok=True)
        Path("asked/train.jsonl").write_text("".join(json.dumps({"q": f"day {number}", "n": number}) + "\n" for number in range(9)))
        told = self.queries(type="dataset", url="asked", column="q", metadata_columns={"n": "number"})
        self.assertEqual([(one["query"], one["metadata"]) for one in told], [(f"day {number}", {"number": number}) for number in range(9)])
        mixed = [[one["query"] for one in self.queries(type="dataset", url="asked", column="q", shuffle=True, seed=seed, buffer_size=4)] for seed in (1, 1, 2)]
        self.assertEqual((mixed[0], sorted(mixed[2])), (mixed[1], [one["query"] for one in told]))
        self.assertNotEqual(mixed[0], mixed[2])
        column = {"label": "One", "node": "first", "path": "result.items[0].output"}
        other = {"label": "Two", "expr": "${first.result.nothing}", "default": "a train"}
        (one,) = self.queries(type="graph_template", template={"columns": [column, other], "options": {"intro": "Read.", "closing": "Now?"}})
        self.assertEqual(one["query"], "Read.\n\nOne:\na lovely {col1_value} day\n\nTwo:\na train\n\nNow?")
        (one,) = self.queries(type="graph_template", template={"name": "own", "text": "{col0_value} {col1_label}", "columns": [column, other]})
        self.assertEqual(one["query"], "a lovely {col1_value} day Two")

    def test_children_are_answered_by_their_ids_and_a_wrong_one_fails_alone(self) -> None:
        shared = {name: value for name, value in ASKED.items() if name != "query"}
        children = [
            {"task_id": "c1", "spec": {**shared, "taskType": "rag", "query": "very very dull"}},
            {"task_id": "c2", "spec": {**shared, "data": {"type": "list", "items": [1]}}},
            {"task_id": "c3", "spec": {**shared, "query": "a house", "search": {"top_k": 1}}},
            {"task_id": "c4", "spec": {**shared, "query": "house " * 100}},
        ]
        result = self.asked(merge_children=children)
        answered = result["children"]
        self.assertEqual(list(answered), ["c1", "c2", "c3", "c4"])
        self.assertEqual(result["queries"][0]["items"][0]["id"], "train")
        self.assertEqual((answered["c1"]["queries"][0]["query"], answered["c1"]["queries"][0]["items"][0]["id"]), ("very very dull", 3))
        self.assertEqual((answered["c1"]["ok"], answered["c1"]["usage"]["num_queries"]), (True, 1))
        reasons = ["data.items[0] is 1, it must be a text", 'search is {"top_k": 1}, that of the task it was merged into is {"top_k": 2}: it must be run alone', "a question has 100 tokens, the encoder reads 32"]
        self.assertEqual([answered[name] for name in ("c2", "c3", "c4")], [{"ok": False, "error": reason} for reason in reasons])

    def test_a_result_that_is_too_large_says_what_it_left_out(self) -> None:
        documents = [{"id": number, "text": "a house", "long": "x" * 30_000} for number in range(4)]
        child = {"task_id": "c", "spec": {**ASKED, "documents": documents}}
        result = self.asked(documents=documents, query=["a day"] * 4, merge_children=[child])
        self.assertEqual((len(result["queries"]), result["queriesLeftOut"], result["children"], result["childrenLeftOut"]), (3, 1, {}, ["c"]))
        whole = json.loads(Path("outputs/queries.json").read_text())
        self.assertEqual((len(whole["queries"]), list(whole["children"])), (4, ["c"]))


class Refusals(Rag):
    def test_what_cannot_be_done_is_a_sentence(self) -> None:
        cases = [
            ({"query": None}, "neither query nor data is given"),
            ({"data": {"items": ["x"]}}, "query and data are both given"),
            ({"documents": None}, "neither documents nor qdrant is given"),
            ({"documents": []}, "documents has none"),
            ({"documents": [{"id": 1, "text": "a"}, {"id": 1, "text": "b"}]}, "documents 0 and 1 both have the id 1"),
            ({"documents": ["a", {"title": "b"}]}, "document 1 is"),
            ({"documents": "gone.txt"}, "documents gone.txt does not exist"),
            ({"search": {"topk": 1}}, "the input search.topk is unknown, this program takes search.top_k; did you mean search.top_k"),
            ({"embedding": None}, "embedding.model is missing and MODEL_PATH has no model"),
            ({"embedding": {"model": "org/encoder"}}, "the encoder org/encoder is no folder of the job, and the model hub does not give it"),
            ({"embedding": {"model": "bert", "revision": "main"}}, "has the revision main, which only the hub has"),
            ({"embedding": {"revision": "main"}}, "embedding.revision is main, and embedding.model is not given"),
            ({"embedding": {"model": "bert", "max_length": 64}}, "embedding.max_length is 64, the encoder bert reads 32 tokens"),
            ({"inference": {"max_tokens": 5}}, "inference is given, and no model that would answer"),
            ({"model": {"source": {"identifier": "lm", "trust_remote_code": True}}}, "code of models is not run"),
            ({"model": {"source": {"identifier": "lm"}, "adapters": [{"path": "x"}]}}, "model.adapters is given"),
            ({"model": "lm", "inference": {"frequency_penalty": 1}}, "the input inference.frequency_penalty is unknown"),
            ({"query": "x " * 40}, "a question has 40 tokens, the encoder reads 32"),
            ({"qdrant": {"url": "http://127.0.0.1:1", "collection": "c"}}, "127.0.0.1, which is no public address"),
            ({"qdrant": {"url": "http://h:99999", "collection": "c"}}, "which is no URL"),
            ({"qdrant": {"url": "http://h", "collection": "c", "api_key": "a\nb"}}, "characters that a header cannot carry"),
            ({"qdrant": {"url": "file:///etc", "collection": "c"}}, "it must begin with http"),
            ({"qdrant": {"url": "http://a:b@example.org", "collection": "c"}}, "has a name and password in it"),
        ]
        for changed, sentence in cases:
            with self.subTest(changed), self.assertRaisesRegex((Refused, Failed), sentence):
                self.asked(**changed)


class AsAProgram(unittest.TestCase):
    def test_a_session_keeps_encoder_and_index_and_says_what_every_result_says(self) -> None:
        asked = [{**ASKED, "embedding": None}, {"query": "a day"}, {**ASKED, "embedding": None, "query": "a cruel day"}]
        lines = "".join(json.dumps({"task_id": str(number), "metadata": given}) + "\n" for number, given in enumerate(asked))
        ran = run("rag", Path.cwd(), {}, lines, SESSION_ID="s", MODEL_PATH=str(Path("bert").resolve()), MODEL_NAME="tiny")
        first, refused, last = ran.named("finish")
        self.assertEqual([event["status"] for event in (first, refused, last)], ["completed", "failed", "completed"], ran.stderr)
        self.assertIn("there is nothing to search in", refused["error"])
        self.assertEqual([event["message"] for event in ran.named("worker") if event["status"] == "loading"], ["loading the encoder of the job"])
        self.assertEqual(len([event for event in ran.named("progress") if "passage" in event.get("operation", "")]), 1)
        result = last["result"]
        self.assertEqual((result["jobType"], result["status"], result["device"], result["embedding"]["model"]), ("rag", "success", "cpu", "tiny"))
        self.assertEqual((result["queries"][0]["items"][0]["id"], [one["name"] for one in result["artifacts"]]), (1, ["queries.json"]))
        self.assertEqual(ran.code, 0)


def direct(texts: list[str], pooling: str = "mean") -> numpy.ndarray:
    tokenizer, model = transformers.AutoTokenizer.from_pretrained("bert"), transformers.AutoModel.from_pretrained("bert").eval()
    vectors = []
    for text in texts:
        states = model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].detach()
        pooled = states.mean(0) if pooling == "mean" else states[0]
        vectors.append((pooled / torch.linalg.norm(pooled)).numpy())
    return numpy.array(vectors)


if __name__ == "__main__":
    unittest.main()
