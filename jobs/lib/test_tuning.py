"""What tuning programs ask of a job, and where they find weights and devices; no model is loaded."""

import contextlib
import io
import json
import os
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from typing import Any

import stoker_job  # noqa: F401 - finds emit
from stoker_job.inputs import Inputs
from stoker_job.problems import Failed, Refused
from stoker_job.tuning import fields
from stoker_job.tuning.data import pairs_wanted, prompts_wanted, texts_wanted
from stoker_job.tuning.wishes import read_lora, read_wishes


def wishes(kind: str = "sft", **given: Any) -> Any:
    return read_wishes(kind, Inputs({"model": "base", "training": None, "checkpoint": None, "enforce_cpu": False, **given}))


class InFolder(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.enterContext(contextlib.chdir(self.folder))
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))


class Wishes(unittest.TestCase):
    def test_defaults_are_the_documented_ones_of_each_type(self) -> None:
        names = ("batch_size", "learning_rate", "max_seq_length", "logging_steps", "save_model", "seed")
        found = {kind: tuple(wishes(kind).training[name] for name in names) for kind in fields.TRAINING}
        self.assertEqual(found["sft"], (2, 5e-5, 1024, 10, True, 42))
        self.assertEqual(found["lora_sft"], (2, 2e-4, 1024, 10, True, 42))
        self.assertEqual(found["dpo"], (4, 5e-7, 1024, 10, True, 42))
        self.assertEqual(found["ppo"], (4, 1.41e-5, 1024, 10, True, 42))
        lora = {"r": 16, "alpha": 32, "dropout": 0.05, "bias": "none", "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj"], "task_type": "CAUSAL_LM", "use_rslora": False}
        self.assertEqual(read_lora(Inputs({"lora": None})), lora)

    def test_what_is_unknown_or_does_not_go_together_is_refused_with_both_facts(self) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"training": [1]}, r"training is \[1\], it must be an object with the keys num_train_epochs"),
            ({"training": {"learning_rate": 0}}, "training.learning_rate is 0, it must be a number from 1e-12"),
            ({"training": {"fp16": True, "bf16": True}}, "training.fp16 and training.bf16 are both true"),
            ({"training": {"save_strategy": "epochs"}}, "training.save_strategy .* did you mean epoch"),
            ({"model": {"vllm": {}}}, "the input model.vllm is unknown, this program takes model.source, model.transformers, model.adapters"),
            ({"model": {"transformers": {"load_in_4bit": True}}}, "sft trains all weights and cannot train rounded ones"),
            ({"model": {"transformers": {"low_cpu_mem_usage": False}}}, "always loads weights without a second copy"),
            ({"model": {"adapters": [{"path": "x"}]}}, r"model.adapters\[0\].apply is runtime, training starts from merged weights"),
            ({"checkpoint": {"load": {"header": {}}}}, "the input checkpoint.load.header is unknown"),
            ({"checkpoint": {"load": {"path": "a", "uri": "b"}}}, "checkpoint.load has path and uri"),
        ]
        for given, sentence in cases:
            with self.subTest(given=given), self.assertRaisesRegex(Refused, sentence):
                wishes(**given)


class Data(InFolder):
    def test_texts_come_whole_or_joined_from_every_documented_place(self) -> None:
        rows = [{"text": "one", "q": "two ?", "a": "two !"}, {"text": "three", "q": "four ?", "a": "four !"}]
        Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        joined = [{"text": "two ? two !"}, {"text": "four ? four !"}]
        self.assertEqual(texts_wanted("rows.jsonl")().rows, [{"text": "one"}, {"text": "three"}])
        self.assertEqual(texts_wanted({"jsonl": {"path": "rows.jsonl", "prompt_field": "q", "response_field": "a", "separator": " "}})().rows, joined)
        self.assertEqual(texts_wanted({"dataset_name": "rows.jsonl", "prompt_column": "q", "response_column": "a", "separator": " "})().rows, joined)
        self.assertEqual(texts_wanted({"jsonl_path": "rows.jsonl", "text_field": "a", "max_samples": 1})().rows, [{"text": "two !"}])
        self.assertEqual(texts_wanted({"prompts": ["x y"]})().rows, [{"text": "x y"}])
        self.assertEqual(prompts_wanted({"jsonl": {"path": "rows.jsonl", "query_field": "q"}})().rows, [{"prompt": "two ?"}, {"prompt": "four ?"}])

    def test_a_folder_of_the_job_is_a_dataset_too(self) -> None:
        Path("set").mkdir()
        Path("set/train.csv").write_text("prompt,chosen,rejected\na,b,c\nd,e,f\n")
        found = pairs_wanted({"dataset_name": "set"})()
        self.assertEqual(found.rows, [{"prompt": "a", "chosen": "b", "rejected": "c"}, {"prompt": "d", "chosen": "e", "rejected": "f"}])
        self.assertEqual((found.facts()["trainExamples"], len(found.sha256())), (2, 64))
        self.assertEqual(len(pairs_wanted({"dataset_name": "set/train.csv", "max_samples": 1})()), 1)
        with self.assertRaisesRegex(Refused, "data.revision is v1, which only the model hub has, and set is a file or folder"):
            pairs_wanted({"dataset_name": "set", "revision": "v1"})()
        with unittest.mock.patch("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9"), self.assertRaisesRegex(Failed, "data.dataset_name no/such is not in .* cannot be reached"):
            pairs_wanted({"dataset_name": "no/such"})()
        with self.assertRaisesRegex(Failed, "dataset set cannot be read: .*validation"):
            pairs_wanted({"dataset_name": "set", "split": "validation"})()

    def test_what_cannot_be_learned_from_is_told_with_its_place(self) -> None:
        cases = {'{"text": 3}': 'row 1 has 3 in column text, it must be a text', '{"text": " "}': "data bad.jsonl has no rows with a text", "[1]": r"line 1 is \[1\], it must be an object", "{": "line 1 is no JSON"}
        for line, sentence in cases.items():
            Path("bad.jsonl").write_text(line + "\n")
            with self.subTest(line=line), self.assertRaisesRegex(Failed, sentence):
                texts_wanted("bad.jsonl")()
        with self.assertRaisesRegex(Refused, "data has dataset_name and prompts of"):
            texts_wanted({"dataset_name": "x", "prompts": ["y"]})
        for empty, sentence in (([], r"data.prompts is \[\], it must be a list of texts with at least one"), (["a", " "], r"data.prompts\[1\] is .* not empty")):
            with self.assertRaisesRegex(Refused, sentence):
                texts_wanted({"prompts": empty})
        with self.assertRaisesRegex(Refused, r"data.preferences is \[\], it must have at least one"):
            pairs_wanted({"preferences": []})
        with self.assertRaisesRegex(Refused, "names the column of the prompt only"):
            texts_wanted({"dataset_name": "x", "prompt_column": "q"})
        for given, key in (({"jsonl_path": "https://example.org/x.jsonl"}, "data.sha256"), ({"jsonl": "https://example.org/x.jsonl"}, "data.jsonl.sha256")):
            with self.assertRaisesRegex(Refused, f"is a URL, so {key} is needed"):
                texts_wanted(given)()
        with self.assertRaisesRegex(Refused, "outside the job's folder"):
            texts_wanted({"jsonl_path": "/etc/passwd"})()


class Devices(unittest.TestCase):
    """How many ranks there are where the machine has so many GPUs; `seen` is what stays visible."""

    def chosen(self, gpus: int, kind: str = "sft", world: str = "", **training: Any) -> tuple[int, str | None]:
        from stoker_job.tuning.devices import choose_devices

        listed = ",".join(f"GPU-{number}" for number in range(gpus))
        with unittest.mock.patch("torch.cuda.device_count", lambda: gpus), unittest.mock.patch.dict(os.environ, {"CUDA_VISIBLE_DEVICES": listed, "WORLD_SIZE": world}):
            return choose_devices(wishes(kind, training=training)), os.environ["CUDA_VISIBLE_DEVICES"]

    def test_all_devices_of_the_job_are_used_unless_it_says_otherwise(self) -> None:
        self.assertEqual(self.chosen(0), (1, ""))
        self.assertEqual(self.chosen(0, nproc_per_node=2), (2, ""))
        self.assertEqual(self.chosen(3), (3, "GPU-0,GPU-1,GPU-2"))
        self.assertEqual(self.chosen(3, nproc_per_node=2), (2, "GPU-0,GPU-1"))
        self.assertEqual(self.chosen(3, nproc_per_node=1), (1, "GPU-0"))
        self.assertEqual(self.chosen(2, nproc_per_node=8), (2, "GPU-0,GPU-1"))
        self.assertEqual(self.chosen(3, allow_multi_gpu=False, primary_gpu=2), (1, "GPU-2"))
        self.assertEqual(self.chosen(3, visible_devices="2,0"), (2, "GPU-2,GPU-0"))
        self.assertEqual(self.chosen(3, "lora_sft"), (1, "GPU-0"))
        self.assertEqual(self.chosen(2, world="2"), (2, "GPU-0,GPU-1"))

    def test_devices_and_ranks_that_contradict_each_other_are_refused(self) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"gpus": 1, "visible_devices": [1]}, "training.visible_devices has 1, this job has 1 GPUs, counted from 0"),
            ({"gpus": 0, "visible_devices": "0"}, "training.visible_devices has 0, this job has 0 GPUs"),
            ({"gpus": 2, "primary_gpu": 2}, "training.primary_gpu is 2, there are 2 GPUs"),
            ({"gpus": 2, "allow_multi_gpu": False, "nproc_per_node": 2}, "allow_multi_gpu is false and training.nproc_per_node is 2"),
            ({"gpus": 2, "world": "2", "nproc_per_node": 1}, "the job has 2 ranks and training.nproc_per_node is 1"),
        ]
        for given, sentence in cases:
            with self.subTest(given=given), self.assertRaisesRegex(Refused, sentence):
                self.chosen(**given)


class Checkpoints(InFolder):
    def test_two_are_kept_whole_and_one_of_other_work_is_refused(self) -> None:
        from stoker_job.tuning import kept

        for step in (1, 2, 3):
            made = kept.scratch() / f"checkpoint-{step}"
            made.mkdir(parents=True)
            (made / "trainer_state.json").write_text(json.dumps({"global_step": step}))
            kept.keep(made, step, {"learning_rate": 1})
        self.assertEqual(sorted(one.name for one in Path("outputs/checkpoints").glob("step-*")), ["step-0000000002", "step-0000000003"])
        with unittest.mock.patch.dict(os.environ, {"RESUME_FROM": "outputs/checkpoints"}):
            self.assertEqual(kept.find({"learning_rate": 1}, None), Path("outputs/checkpoints/step-0000000003"))
            with self.assertRaisesRegex(Failed, "step-0000000003 was made with learning_rate 1, this job has 2"):
                kept.find({"learning_rate": 2}, None)
        with self.assertRaisesRegex(Failed, "has no trainer_state.json and so is no checkpoint"):
            kept.find({}, "outputs")


if __name__ == "__main__":
    unittest.main()
