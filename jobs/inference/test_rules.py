"""What needs no model: inputs and their sentences, prompts from data and earlier stages, exports, and the rules for GPUs."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

import stoker_job  # noqa: F401 - makes emit importable
from children import children_of
from export import export_of
from model_asked import model_asked
from open_engine import takes_vllm
from parallel_size import parallel_size, tries
from reader import Reader
from request import asked_of, sampling_asked
from sampling import inference_section, sampling_of
from stoker_job.inputs import check, manifest_of
from stoker_job.problems import Failed, Refused
from stoker_job.template_data import own_share, prompts_of
from told import told
from work import work

HERE = Path(__file__).resolve().parent


class Bytes:
    """A tokenizer with one token for each byte."""

    def decode(self, tokens: list[int], **_: Any) -> str:
        return bytes(tokens).decode("utf8", "replace")


class Inputs(unittest.TestCase):
    def refused(self, sentence: str, **given: Any) -> None:
        with self.assertRaisesRegex(Refused, sentence):
            work(check(given, manifest_of(HERE)["inputs"]))

    def test_the_two_forms_are_told_apart(self) -> None:
        self.refused("neither input nor data is given")
        self.refused("input and data are given", input="x", data="y")
        self.refused("beside input it must be a text", input="x", model={"source": "m"})
        self.refused("top is 3, which belongs to input", data="x", top=3)
        with mock.patch.dict(os.environ, WORLD_SIZE="2"):
            self.refused("the job has 2 ranks", data="x")

    def test_what_is_unknown_or_impossible_is_refused_by_its_path(self) -> None:
        cases = [
            ({"model": {"sauce": 1}}, r"model.sauce is unknown.*did you mean model.source"),
            ({"model": {"source": {"identifier": 5}}}, "model.source.identifier is 5, it must be a text"),
            ({"model": {"transformers": {"device_map": "moon"}}}, "device_map is the text .moon., it must be one of auto"),
            ({"model": {"transformers": {"low_cpu_mem_usage": False}}}, "low_cpu_mem_usage is false"),
            ({"model": {"transformers": {"load_in_8bit": True, "load_in_4bit": True}}}, "one of them can be"),
            ({"model": {"adapters": [{"type": "ia3"}]}}, r"model.adapters\[0\].type"),
            ({"checkpoint": {"load": None}}, "checkpoint.load is null"),
            ({"model": {"vllm": {"download_dir": "/etc"}}}, "download_dir is /etc, which lies outside"),
        ]
        for given, sentence in cases:
            with self.subTest(sentence), self.assertRaisesRegex(Refused, sentence):
                model_asked(given.get("model"), None, given.get("checkpoint"))

    def test_sampling(self) -> None:
        usual = sampling_of(inference_section(None), "inference.")
        self.assertEqual((usual.max_tokens, usual.temperature, usual.top_p, usual.top_k, usual.do_sample), (512, 0.7, 0.95, 50, True))
        given = sampling_of(inference_section({"max_tokens": 5, "max_new_tokens": 7, "temperature": 0, "top_k": -1, "stop": "x"}), "inference.")
        self.assertEqual((given.max_tokens, given.do_sample, given.top_k, given.stop), (7, False, 0, ("x",)))
        for wrong, sentence in [
            ({"do_sample": True, "temperature": 0}, "do_sample is true and inference.temperature is 0"),
            ({"stop": ["a", ""]}, "inference.stop has an empty text"),
            ({"stop": [3]}, r"inference.stop\[0\] is 3"),
            ({"max_token": 3}, "did you mean inference.max_token"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex(Refused, sentence):
                sampling_of(inference_section(wrong), "inference.")

    def test_requests_of_the_endpoint(self) -> None:
        asked = asked_of("chat", {"kind": "chat", "model": "m", "stream": True, "user": "u", "messages": [], "max_tokens": 3, "logit_bias": {"5": -100}, "seed": -1})
        sampling = sampling_asked(asked, range(10))
        self.assertEqual((sampling.max_tokens, sampling.temperature, sampling.logit_bias, sampling.seed), (3, 1.0, {5: -100.0}, 2**31 - 1))
        for kind, more, sentence in [
            ("chat", {"tools": [{}]}, "tools is .* leave it out"),
            ("chat", {"response_format": {"type": "json_object"}}, "response_format"),
            ("completion", {"echo": True}, "echo is true"),
            ("chat", {"top_kk": 1}, "top_kk is unknown.*did you mean top_k"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex(Refused, sentence):
                asked_of(kind, {"kind": kind, **more})
        with self.assertRaisesRegex(Refused, "logit_bias has the token 99, the model has 10"):
            sampling_asked(asked_of("chat", {"logit_bias": {"99": 1}}), range(10))


class Data(unittest.TestCase):
    def test_lists_with_their_metadata(self) -> None:
        self.assertEqual([one.text for one in prompts_of("one", None, None)[0]], ["one"])
        (first, second), _ = prompts_of({"type": "list", "items": ["a", "b"], "metadata": [{"k": 1}, None]}, None, None)
        self.assertEqual([(first.index, first.metadata), (second.text, second.metadata)], [(0, {"k": 1}), ("b", {})])
        for wrong, sentence in [
            ([], "data.items is .*at least one text"),
            (["a", 5], r"data.items\[1\] is 5"),
            ({"items": ["a"], "metadata": []}, "data.items has 1 entries and data.metadata has 0"),
            ({"type": "static", "task": "x"}, "data.type is the text .static."),
            (7, "data is 7"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex(Refused, sentence):
                prompts_of(wrong, None, None)

    def test_shards_are_all_prompts_each_once(self) -> None:
        prompts = prompts_of([str(number) for number in range(7)], None, None)[0]
        for is_block in (True, False):
            shares = [own_share(prompts, {"index": index, "total": 3, "contiguous": is_block}) for index in range(3)]
            self.assertEqual(sorted(one.index for own, _ in shares for one in own), list(range(7)))
            self.assertEqual([facts["items"] for _, facts in shares if facts], [2, 2, 3] if is_block else [3, 2, 2])
        with self.assertRaisesRegex(Refused, "shard.index is 3 and shard.total is 3"):
            own_share(prompts, {"index": 3, "total": 3})

    def test_a_graph_template_reads_earlier_stages(self) -> None:
        upstream = {"a": {"task_id": "t", "result": {"items": [{"output": "good"}]}}, "b": {"result": {"score": {"x": 1}}}}
        columns = [{"label": "First", "node": "a", "path": "result.items[0].output"}, {"label": "Second", "expr": "${b.result.score}"}]
        template = {"name": "two_column_briefing", "columns": columns, "options": {"role": "You judge.", "closing": "Decide."}}
        (prompt,), _ = prompts_of({"type": "graph_template", "template": template}, upstream, None)
        self.assertEqual(prompt.text, 'You judge.\n\nFirst:\ngood\n\nSecond:\n{"x": 1}\n\nDecide.')
        own = {"name": "mine", "text": "{col0_label}={col0_value} {x}", "columns": columns[:1], "append_system_prompt": True}
        (prompt,), _ = prompts_of({"template": own}, upstream, "be brief")
        self.assertEqual((prompt.text, prompt.has_system), ("First=good {x}", True))
        with contextlib.redirect_stdout(io.StringIO()) as said:
            (prompt,), _ = prompts_of({"template": template}, upstream, "be brief")
        self.assertIn("system_prompt is left out", said.getvalue())
        self.assertFalse(prompt.has_system)
        (prompt,), _ = prompts_of({"template": {**own, "columns": [{"node": "c", "default": "none"}]}}, upstream, None)
        self.assertEqual(prompt.text, "Column 1=none {x}")

    def test_a_graph_template_that_lacks_something(self) -> None:
        two = [{"node": "a"}, {"node": "a"}]
        for template, sentence in [
            ({"columns": two[:1]}, "data.template.columns has 1"),
            ({"name": "other", "columns": two}, "any other needs data.template.text"),
            ({"columns": [{"node": "z"}]}, "wants the stage z, the finished stages are a"),
            ({"columns": [{"node": "a", "path": "result.nothing"}]}, "wants result.nothing of the stage a"),
            ({"columns": [{"expr": "z.result.x"}]}, "wants the stage z"),
            ({"columns": [{}]}, "needs either node and path, or expr"),
            ({"text": "{col3_value}", "columns": two}, "has {col3_value}, and there are 2 columns"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex((Refused, Failed), sentence):
                prompts_of({"template": template}, {"a": {"result": {"x": 1}}}, None)

    def test_children_fail_alone(self) -> None:
        parent = {"model": "m", "data": "x", "inference": {"temperature": 0, "system_prompt": "s"}}
        good = {"taskType": "inference", "model": "m", "data": ["y", "z"], "inference": {"temperature": 0}}
        specs = {"good": good, "empty": {**good, "data": []}, "other": {**good, "model": "n"}, "hot": {**good, "inference": {"temperature": 1}}, "none": None}
        found = children_of({**parent, "merge_children": [{"task_id": name, "spec": spec} for name, spec in specs.items()]})
        self.assertEqual(len(found["good"].prompts), 2)
        self.assertIn("at least one text", found["empty"])
        self.assertIn('its model is the text "n", the task it was merged into has the text "m"', found["other"])
        self.assertIn("its inference is", found["hot"])
        self.assertIn("its spec is null", found["none"])
        for wrong, sentence in [([{"spec": good}], "task_id is missing"), ([{"task_id": "../x"}], "must be an id"), ([{"task_id": "a"}] * 2, "the task a twice"), ("x", "a list of objects")]:
            with self.subTest(sentence), self.assertRaisesRegex(Refused, sentence):
                children_of({**parent, "merge_children": wrong})


class Answers(unittest.TestCase):
    def test_an_export_has_the_fields_that_were_named(self) -> None:
        fields = {
            "q": "prompt", "a": {"from": "output"}, "id": "metadata.id", "n": "item.index", "kind": "qa",
            "lang": {"from": "metadata", "key": "lang", "fallback": "metadata.language", "default": "en"},
        }  # fmt: skip
        export = export_of({"jsonl_export": {"path": "sub/qa.jsonl", "fields": fields, "required_fields": ["id"]}})
        items = [{"index": 3, "prompt": "p", "output": "o", "metadata": {"id": 9, "language": "de"}}, {"index": 4, "prompt": "p2", "output": "", "metadata": {"id": 1}}]
        folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        facts = export.write(items, folder)
        rows = [json.loads(line) for line in (folder / "sub/qa.jsonl").read_text().splitlines()]
        self.assertEqual(rows[0], {"q": "p", "a": "o", "id": 9, "n": 3, "kind": "qa", "lang": "de"})
        self.assertEqual((rows[1]["lang"], facts["record_count"], facts["relative_path"], facts["fields"]), ("en", 2, "sub/qa.jsonl", list(fields)))
        with self.assertRaisesRegex(Failed, "item 4 has no value for the required field id"):
            export.check([{**items[1], "metadata": {}}])
        for wrong, sentence in [
            ({"path": "../x", "fields": {"a": "output"}}, "below outputs"),
            ({"path": "/etc/x", "fields": {"a": "output"}}, "below outputs"),
            ({"fields": {}}, "at least one field"),
            ({"fields": {"a": "output"}, "required_fields": ["b"]}, "has b, the fields are a"),
            ({"fields": {"a": {"from": "metadata"}}}, "has no key"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex(Refused, sentence):
                export_of({"jsonl_export": wrong})

    def test_a_reader_holds_back_what_may_change(self) -> None:
        cases = [
            ("größer", [], "größer", "length"),
            ("one END two", ["END"], "one ", "stop"),
            ("one EN two", ["END"], "one EN two", "length"),
            ("ab\n\ncd", ["\n\n", "cd"], "ab", "stop"),
        ]
        for text, stops, wanted, reason in cases:
            pieces: list[str] = []
            reader = Reader(Bytes(), 1, [0], stops, pieces.append)
            for token in text.encode():
                reader.take(token)
                self.assertTrue(wanted.startswith("".join(pieces)), pieces)
            answer = reader.answer()
            self.assertEqual((answer.text, answer.finish_reason, "".join(pieces)), (wanted, reason, wanted))
        reader = Reader(Bytes(), 1, [0], [], lambda _: None)
        for token in (104, 105, 0, 106):
            reader.take(token)
        self.assertEqual((reader.answer().text, reader.answer().finish_reason, reader.answer().completion_tokens), ("hi", "stop", 3))

    def test_a_long_result_is_cut_and_says_so(self) -> None:
        items = [{"index": number, "output": "x" * 1000} for number in range(400)]
        children = {"a": {"items": items, "usage": {}}, "b": {"ok": False, "error": "e"}}
        cut = told({"items": items, "children": children, "model": "m"}, "responses.json")
        self.assertLess(len(json.dumps(cut)), 200_000)
        self.assertEqual((cut["itemCount"], cut["itemsFile"], cut["children"]["a"]["itemCount"], cut["children"]["b"]), (400, "responses.json", 400, children["b"]))
        self.assertGreater(len(cut["items"]), 20)
        self.assertEqual(told({"items": items[:3]}, "f"), {"items": items[:3]})


class Devices(unittest.TestCase):
    def test_tensor_parallel_size(self) -> None:
        cases = [((0, 4, False), 4), ((2, 4, False), 2), ((8, 4, False), 4), ((4, 4, True), 1), ((0, 1, False), 1)]
        for given, wanted in cases:
            self.assertEqual(parallel_size(*given), wanted, given)

    def test_vllm_answers_where_gpus_and_the_package_are_unless_only_transformers_can(self) -> None:
        self.assertTrue(takes_vllm(model_asked("m"), 1, True))
        for asked, devices, is_installed in [
            (model_asked("m"), 0, True),
            (model_asked("m"), 2, False),
            (model_asked("m", enforce_cpu=True), 1, True),
            (model_asked({"source": "m", "transformers": {"load_in_4bit": True}}), 1, True),
            (model_asked({"source": "m", "transformers": {"device_map": "cpu"}}), 1, True),
        ]:
            self.assertFalse(takes_vllm(asked, devices, is_installed))

    def test_less_memory_is_tried_and_then_one_device(self) -> None:
        self.assertEqual(list(tries(2, 0.9))[:5], [(2, 0.9), (2, 0.85), (2, 0.8), (2, 0.75), (1, 0.9)])
        self.assertEqual(list(tries(1, 0.4)), [(1, 0.4), (1, 0.35), (1, 0.3)])
        self.assertEqual(list(tries(1, 0.2)), [(1, 0.2)])


if __name__ == "__main__":
    unittest.main()
