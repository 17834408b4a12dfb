"""Texts of a tiny language model, compared token by token with asking transformers directly."""

import contextlib
import io
import json
import os
import shutil
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

import torch
from sample_language import direct, tiny_llama, tiny_lora
from stoker_job.artifacts import sha256_of
from stoker_job.inputs import check, manifest_of
from stoker_job.problems import Failed, Refused
from work import work

HERE = Path(__file__).resolve().parent
PROMPTS = ["hello", "a much longer question than the others", "x", "why is that so", "größe"]
GREEDY = {"temperature": 0, "max_tokens": 24}


def setUpModule() -> None:
    global FOLDER
    FOLDER = Path(unittest.enterModuleContext(tempfile.TemporaryDirectory()))
    unittest.enterModuleContext(contextlib.chdir(FOLDER))
    torch.set_num_threads(1)
    tiny_llama(Path("llama"))
    tiny_llama(Path("tuned"), seed=5)
    tiny_lora(Path("lora"), Path("llama"))


def asked(**inputs: Any) -> dict[str, Any]:
    """The result, without the events."""
    return heard(**inputs)[0]


def heard(**inputs: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    given = {"model": "llama", "inference": GREEDY, **inputs}
    with contextlib.redirect_stdout(io.StringIO()) as said:
        result = work(check(given, manifest_of(HERE)["inputs"]))
    return result, [json.loads(line) for line in said.getvalue().splitlines()]


def outputs(result: dict[str, Any]) -> list[str]:
    return [item["output"] for item in result["items"]]


class Answers(unittest.TestCase):
    def test_greedy_answers_are_those_of_transformers_for_every_batch_size(self) -> None:
        wanted = [direct(Path("llama"), prompt, max_new_tokens=24, do_sample=False) for prompt in PROMPTS]
        for size in (1, 2, 5):
            result = asked(data=PROMPTS, inference={**GREEDY, "batch_size": size})
            self.assertEqual(outputs(result), [text for _, text in wanted], size)
        usage = result["usage"]
        self.assertEqual(usage["prompt_tokens"], sum(len(prompt.encode()) for prompt in PROMPTS))
        self.assertEqual(usage["completion_tokens"], sum(len(tokens) for tokens, _ in wanted))
        self.assertEqual((usage["num_requests"], usage["total_tokens"]), (5, usage["prompt_tokens"] + usage["completion_tokens"]))
        self.assertEqual((result["ok"], result["model"], result["engine"], result["device"]), (True, "llama", "transformers", "cpu"))
        self.assertEqual([item["index"] for item in result["items"]], [0, 1, 2, 3, 4])
        self.assertEqual(json.loads(Path("outputs/responses.json").read_text())["items"], result["items"])

    def test_sampling_with_a_seed_is_that_of_transformers(self) -> None:
        options = {"temperature": 0.9, "top_p": 0.8, "top_k": 40, "repetition_penalty": 1.3}
        _, wanted = direct(Path("llama"), "hello", max_new_tokens=24, do_sample=True, seed=7, **options)
        given = {**options, "max_new_tokens": 24, "seed": 7}
        self.assertEqual(outputs(asked(data="hello", inference=given)), [wanted])
        other = asked(data="hello", inference={**given, "seed": None})
        self.assertNotEqual(outputs(other), [wanted])
        again = asked(data="hello", inference={**given, "seed": other["inference"]["seed"]})
        self.assertEqual(outputs(again), outputs(other))

    def test_pieces_together_are_the_text(self) -> None:
        result, events = heard(data="hello")
        pieces = [event["delta"] for event in events if event["event"] == "text_delta"]
        self.assertGreater(len(pieces), 5)
        self.assertEqual("".join(pieces), outputs(result)[0])
        result, events = heard(data=PROMPTS[:2])
        pieces = {event["index"]: event["delta"] for event in events if event["event"] == "text_delta"}
        self.assertEqual([pieces[0], pieces[1]], [text + "\n" for text in outputs(result)])

    def test_a_stop_text_ends_the_answer_before_it(self) -> None:
        whole = outputs(asked(data="hello"))[0]
        result = asked(data=["hello", "x"], inference={**GREEDY, "stop": [whole[4:6], "never"]})
        first = result["items"][0]
        self.assertEqual((first["output"], first["finish_reason"]), (whole[: whole.index(whole[4:6])], "stop"))
        self.assertEqual(result["items"][1]["output"], outputs(asked(data="x"))[0])
        self.assertLess(result["usage"]["completion_tokens"], 48)

    def test_the_end_of_the_model_counts_as_stop(self) -> None:
        tokens, text = direct(Path("llama"), "hello", max_new_tokens=24, do_sample=False)
        shutil.copytree("llama", "short")
        config = json.loads(Path("short/generation_config.json").read_text())
        Path("short/generation_config.json").write_text(json.dumps({**config, "eos_token_id": [2, tokens[6]]}))
        (item,) = asked(model="short", data="hello")["items"]
        self.assertEqual(item["finish_reason"], "stop")
        self.assertTrue(text.startswith(item["output"]) and len(item["output"]) < len(text))

    def test_penalties_keep_tokens_from_coming_again(self) -> None:
        said = outputs(asked(data="x", inference={**GREEDY, "max_tokens": 60}))[0]
        varied = outputs(asked(data="x", inference={**GREEDY, "max_tokens": 60, "frequency_penalty": 2, "presence_penalty": 2}))[0]
        self.assertLess(len(set(said)) / len(said), len(set(varied)) / len(varied))

    def test_system_prompt_and_chat_template(self) -> None:
        system = {**GREEDY, "system_prompt": "be brief"}
        (plain,) = asked(data="hello", inference=system)["items"]
        self.assertEqual(plain["metadata"], {"prompt": "hello", "rendered_prompt": "be brief\nhello"})
        self.assertEqual(plain["output"], direct(Path("llama"), "be brief\nhello", max_new_tokens=24, do_sample=False)[1])
        (chat,) = asked(data="hello", inference={**system, "chat_template": True})["items"]
        self.assertEqual(chat["metadata"]["rendered_prompt"], "system: be brief\nuser: hello\nassistant: ")
        (own,) = asked(data="hello", inference={**system, "chat_template": "{{ messages[1].content }}!"})["items"]
        self.assertEqual(own["metadata"]["rendered_prompt"], "hello!")

    def test_the_room_of_the_model(self) -> None:
        long = "y" * 250
        result = asked(data=[long, "x"], inference={**GREEDY, "max_tokens": 50})
        self.assertEqual(result["usage"]["completion_tokens"], 6 + 50)
        self.assertEqual(outputs(result)[1], outputs(asked(data="x", inference={**GREEDY, "max_tokens": 50}))[0])
        with self.assertRaisesRegex(Refused, "item 1 has 300 tokens, the model llama has room for 256"):
            asked(data=["x", "y" * 300])
        with self.assertRaisesRegex(Refused, "item 0 is empty"):
            asked(data="")


class Weights(unittest.TestCase):
    def test_an_adapter_says_the_same_beside_the_model_and_merged_into_it(self) -> None:
        base = outputs(asked(data=PROMPTS))
        runtime = asked(data=PROMPTS, model={"source": {"identifier": "llama"}, "adapters": [{"type": "lora", "path": "lora"}]})
        merged = asked(data=PROMPTS, model={"source": "llama", "adapters": [{"path": "lora", "apply": "merge", "name": "mine"}]})
        self.assertEqual(outputs(runtime), outputs(merged))
        self.assertNotEqual(outputs(runtime), base)
        self.assertEqual(merged["adapters"], [{"name": "mine", "apply": "merge", "scale": 1.0, "sha256": sha256_of(Path("lora/adapter_model.safetensors"))}])
        nothing = asked(data=PROMPTS, model={"source": "llama", "adapters": [{"path": "lora", "scale": 0}]})
        self.assertEqual(outputs(nothing), base)
        half = {"path": "lora", "scale": 0.5}
        twice = asked(data=PROMPTS, model={"source": "llama", "adapters": [half, half]})
        self.assertEqual(outputs(twice), outputs(runtime))

    def test_tuned_weights_answer_in_place_of_the_base(self) -> None:
        wanted = [direct(Path("tuned"), prompt, max_new_tokens=24, do_sample=False)[1] for prompt in PROMPTS[:2]]
        with tarfile.open("final_model.tar.gz", "w:gz") as archive:
            archive.add("tuned", "final_model")
        shutil.copytree("tuned", "task-1/final_model")
        digest = sha256_of(Path("tuned/model.safetensors"))
        for load in ({"path": "final_model.tar.gz"}, {"type": "local", "path": "tuned"}, {"taskId": "task-1"}, {"path": "task-1", "subdir": "final_model"}):
            with self.subTest(load):
                result = asked(data=PROMPTS[:2], checkpoint={"load": load})
                self.assertEqual(outputs(result), wanted)
                self.assertEqual((result["model"], result["checkpoint"]["sha256"], result["checkpoint"]["kind"]), ("llama", digest, "model"))
        result = asked(data=PROMPTS[:1], checkpoint={"load": {"path": "lora"}})
        self.assertEqual(outputs(result), outputs(asked(data=PROMPTS[:1], model={"source": "llama", "adapters": [{"path": "lora"}]})))
        self.assertEqual(result["checkpoint"]["kind"], "adapter")

    def test_what_cannot_be_loaded_is_told(self) -> None:
        Path("empty").mkdir()
        shutil.copytree("llama", "broken")
        Path("broken/model.safetensors").write_bytes(b"nothing")
        url = {"url": "https://example.com/m.tar.gz"}
        cases: list[tuple[dict[str, Any], str]] = [
            ({"model": "./gone"}, "model ./gone does not exist; the job's folder has"),
            ({"model": "empty"}, "model empty cannot be loaded"),
            ({"model": "broken"}, "broken cannot be loaded"),
            ({"model": "../secret/x"}, "lies outside the job's folder"),
            ({"model": None}, "model is missing and MODEL_PATH has no model"),
            ({"model": {"source": {"identifier": "llama", "revision": "main"}}}, "has the revision main, which only the hub has"),
            ({"model": "org/m", "model_sha256": "0" * 64}, "is an id of the model hub and has a SHA-256"),
            ({"model": {"source": "llama", "adapters": [{}]}}, r"model.adapters\[0\] needs path or url"),
            ({"model": {"source": "llama", "adapters": [url]}}, r"model.adapters\[0\].url needs model.adapters\[0\].sha256"),
            ({"model": {"source": "llama", "adapters": [{"path": "tuned"}]}}, "an adapter has adapter_config.json"),
            ({"checkpoint": {"load": {"taskId": "task-9"}}}, "no folder task-9 among the job's files"),
            ({"checkpoint": {"load": {"path": "tuned", "uri": "x"}}}, "path and uri"),
            ({"checkpoint": {"load": {"path": "tuned", "subdir": "../llama"}}}, "leads outside"),
            ({"checkpoint": {"load": {"path": "tuned/config.json"}}}, "a folder with weights or an archive"),
            ({"model": {"source": "llama", "transformers": {"device_map": "cuda"}}}, "this job sees no GPU"),
            ({"model": {"source": "llama", "transformers": {"load_in_8bit": True}}}, "bitsandbytes is not installed"),
            ({"model": {"source": "llama", "transformers": {"use_flash_attention_2": True}}}, "flash_attn is not installed"),
        ]
        with mock.patch.dict(os.environ, MODEL_PATH=""):
            for more, sentence in cases:
                with self.subTest(sentence), self.assertRaisesRegex((Failed, Refused), sentence):
                    asked(data="x", **more)

    def test_an_id_of_the_model_hub_without_network(self) -> None:
        from huggingface_hub import constants

        with mock.patch.object(constants, "ENDPOINT", "http://127.0.0.1:9"), self.assertRaisesRegex(Failed, "model org/base-1b is not in the job's folder, .* cannot be reached .* network: internet"):
            asked(data="x", model="org/base-1b")

    def test_broken_and_missing_weights_do_not_talk(self) -> None:
        from safetensors.torch import load_file, save_file

        shutil.copytree("llama", "nan")
        weights = load_file("llama/model.safetensors")
        save_file({name: value for name, value in weights.items() if "q_proj" not in name}, "nan/model.safetensors", {"format": "pt"})
        with self.assertRaisesRegex(Failed, "model nan lacks the weights model.layers.0.self_attn.q_proj.weight, model.layers.1"):
            asked(model="nan", data="x")
        save_file({name: value * float("nan") for name, value in weights.items()}, "nan/model.safetensors", {"format": "pt"})
        with self.assertRaisesRegex(Failed, "the model answers with NaN"):
            asked(model="nan", data="x")


class Questions(unittest.TestCase):
    def test_a_dataset_with_metadata_shuffled_by_seed(self) -> None:
        rows = [{"question": f"q{number}", "id": number, "lang": "en"} for number in range(6)]
        Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        Path("rows.csv").write_text("question,id\n" + "".join(f"{row['question']},{row['id']}\n" for row in rows))
        data = {"type": "dataset", "url": "rows.jsonl", "column": "question", "metadata_columns": {"id": "number"}}
        short = {**GREEDY, "max_tokens": 2}
        result = asked(data=data, inference=short)
        self.assertEqual([(item["prompt"], item["metadata"]["number"]) for item in result["items"]], [(f"q{number}", number) for number in range(6)])
        self.assertEqual(result["dataset"], {"name": "rows.jsonl", "config": None, "split": "train", "column": "question", "rows": 6, "synthetic": False})
        orders = [[item["prompt"] for item in asked(data={**data, "shuffle": True, "seed": seed, **more}, inference=short)["items"]] for seed, more in ((1, {}), (1, {}), (2, {}), (1, {"buffer_size": 3}))]
        self.assertEqual(orders[0], orders[1])
        self.assertNotEqual(orders[0], orders[2])
        self.assertEqual([sorted(order) for order in orders], [[f"q{number}" for number in range(6)]] * 4)
        everything = asked(data={"url": "rows.csv", "column": "question", "split": "train[:2]", "metadata_include_all": True}, inference=short)
        self.assertEqual([item["metadata"]["id"] for item in everything["items"]], [0, 1])
        for more, sentence in [
            ({"column": "text"}, "has no column text, it has question, id, lang"),
            ({"column": "id"}, "row 0 of the dataset has 0 in the column id"),
            ({"metadata_columns": ["no"]}, "has no column no"),
            ({"split": "test"}, "rows.jsonl cannot be read: .*test"),
            ({"url": "gone.jsonl"}, "data.url gone.jsonl does not exist"),
            ({"trust_remote_code": True}, "no longer runs code"),
            ({"buffer_size": 2}, "data.shuffle is false"),
            ({"revision": "main"}, "data.revision is main, which only the model hub has"),
            ({"name": "en"}, "rows.jsonl has no configurations to choose from, and the job names en"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex((Failed, Refused), sentence):
                asked(data={**data, **more})

    def test_folders_of_datasets(self) -> None:
        import datasets

        short = {**GREEDY, "max_tokens": 1}
        folder = Path("split")
        folder.mkdir()
        for split in ("train", "test"):
            (folder / f"{split}.jsonl").write_text(json.dumps({"text": split}) + "\n")
        datasets.DatasetDict({"train": datasets.Dataset.from_list([{"text": "kept"}])}).save_to_disk("saved")
        prompts = [asked(data={"url": url, "split": split}, inference=short)["items"][0]["prompt"] for url, split in (("split", "test"), ("split", "train"), ("saved", "train"))]
        self.assertEqual(prompts, ["test", "train", "kept"])
        for data, sentence in [
            ({"url": "saved", "split": "test"}, "dataset saved has the splits train, the job wants test"),
            ({"url": "https://example.com/rows.jsonl"}, "data.url is a URL, so data.sha256 is needed"),
            ({"url": "llama/config.json", "column": "x"}, "has no column x"),
            ({"url": "llama/model.safetensors"}, "is a .safetensors file, known are .jsonl"),
        ]:
            with self.subTest(sentence), self.assertRaisesRegex((Failed, Refused), sentence):
                asked(data=data)

    def test_each_child_gets_its_own_answers_and_a_bad_one_fails_alone(self) -> None:
        spec = {"taskType": "inference", "model": "llama", "inference": {**GREEDY, "system_prompt": "be kind"}}
        export = {"jsonl_export": {"path": "a.jsonl", "fields": {"a": "output"}}}
        children = [
            {"task_id": "one", "spec": {**spec, "data": {"type": "list", "items": ["x", "hello"]}, "postprocess": export}},
            {"task_id": "long", "spec": {**spec, "data": ["z" * 400]}},
            {"task_id": "bad", "spec": {**spec, "data": {"type": "list", "items": [1]}}},
            {"task_id": "two", "spec": {**spec, "data": ["why"], "inference": GREEDY}, "metadata": {"name": "n"}},
        ]
        result = asked(data=["hello", "x"], merge_children=children)
        self.assertEqual(outputs(result), [direct(Path("llama"), prompt, max_new_tokens=24, do_sample=False)[1] for prompt in ("hello", "x")])
        one, two = result["children"]["one"], result["children"]["two"]
        self.assertEqual(outputs(one), [direct(Path("llama"), f"be kind\n{prompt}", max_new_tokens=24, do_sample=False)[1] for prompt in ("x", "hello")])
        self.assertEqual(outputs(two), [direct(Path("llama"), "why", max_new_tokens=24, do_sample=False)[1]])
        self.assertEqual([item["index"] for item in one["items"]], [0, 1])
        self.assertEqual((one["usage"]["num_requests"], result["usage"]["num_requests"]), (2, 5))
        self.assertEqual(result["usage"]["total_tokens"], sum(len(one["metadata"]["rendered_prompt"]) for part in (result, one, two) for one in part["items"]) + 5 * 24)
        self.assertIn("item 0 has 408 tokens", result["children"]["long"]["error"])
        self.assertIn("data.items[0] is 1", result["children"]["bad"]["error"])
        self.assertEqual([json.loads(line)["a"] for line in Path("outputs/children/one/a.jsonl").read_text().splitlines()], outputs(one))

    def test_shards_together_are_the_whole(self) -> None:
        whole = asked(data=PROMPTS)["items"]
        shards = [asked(data=PROMPTS, shard={"index": index, "total": 2}) for index in range(2)]
        self.assertEqual([item for shard in shards for item in shard["items"]], whole)
        self.assertEqual(shards[1]["shard"], {"index": 1, "total": 2, "contiguous": True, "items": 3, "of": 5})
        self.assertEqual(asked(data=["x"], shard={"index": 0, "total": 2})["items"], [])


if __name__ == "__main__":
    unittest.main()
