"""Teaches a tiny model to say what a tiny judge likes to read."""

import os
import shutil
import signal
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from ending import ending_after
from program_run import run
from tiny_language import tiny_judge, tiny_llama
from work_run import worked

import stoker_job  # noqa: F401 - finds emit
from stoker_job.problems import Failed, Refused

PROMPTS = ["what does ann like ?", "what does ben like ?", "dan likes"]
TRAINING = {"steps": 24, "batch_size": 16, "mini_batch_size": 8, "ppo_epochs": 2, "learning_rate": 0.003, "logging_steps": 6, "save_freq": 6}
INPUTS = {
    "model": "base",
    "reward_model": {"identifier": "judge", "positive_label": "POSITIVE", "negative_label": "NEGATIVE"},
    "data": {"prompts": PROMPTS},
    "generation": {"max_new_tokens": 8},
    "training": TRAINING,
}


class Rewarded(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        tiny_llama(cls.folder / "base")
        tiny_judge(cls.folder / "judge")
        cls.ran = run("ppo", cls.folder, INPUTS)
        cls.result = cls.ran.result
        (cls.folder / "outputs").rename(cls.folder / "whole")

    def tearDown(self) -> None:
        shutil.rmtree(self.folder / "outputs", ignore_errors=True)

    def test_the_mean_reward_rises_and_so_do_fresh_answers_of_the_model_it_leaves(self) -> None:
        self.assertGreater(self.result["finalReward"], self.result["firstReward"] + 0.3)
        self.assertGreater(self.result["finalKl"], 0)
        self.assertGreater(self.fresh_reward(self.folder / "whole/final_model"), self.fresh_reward(self.folder / "base") + 0.3)
        self.assertEqual((self.result["engine"], self.result["steps"], self.result["dataset_size"]), ("torch", 24, 3))
        self.assertEqual([row["step"] for row in self.result["trainingMetrics"]], [6, 12, 18, 24])

    def test_asked_to_stop_it_goes_on_to_exactly_the_same_end(self) -> None:
        asked = run("ppo", self.folder, INPUTS, **ending_after(2, signal.SIGTERM, self.folder))
        self.assertEqual(asked.code, 143)
        result = run("ppo", self.folder, INPUTS, RESUME_FROM="outputs/checkpoints").result
        self.assertEqual(result["resumedFrom"], {"path": "outputs/checkpoints/step-0000000013.pt", "step": 13})
        self.assertEqual(result["trainingMetrics"], self.result["trainingMetrics"])
        self.assertEqual(result["weightsSha256"], self.result["weightsSha256"])

    def test_two_ranks_share_the_answers_of_a_step(self) -> None:
        training = {**TRAINING, "steps": 2, "batch_size": 4, "mini_batch_size": 4, "nproc_per_node": 2, "logging_steps": 1}
        result = run("ppo", self.folder, {**INPUTS, "training": training}).result
        self.assertEqual((result["ranks"], result["steps"]), (2, 2))

    def test_stop_words_end_an_answer_and_a_small_target_kl_ends_a_step_early(self) -> None:
        training = {"steps": 2, "batch_size": 4, "num_mini_batches": 2, "target_kl": 1e-6, "learning_rate": 0.01, "logging_steps": 1, "gradient_accumulation_steps": 2}
        result, _ = self.work(generation={"max_new_tokens": 12, "stop": "likes", "temperature": 0.9}, training=training)
        self.assertLess(result["trainingMetrics"][-1]["answer_tokens"], 12)

    def test_what_does_not_go_together_is_refused(self) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"reward_model": None}, "the input reward_model is missing"),
            ({"reward_model": {"scale": 2}}, "reward_model.identifier is missing"),
            ({"generation": {"do_sample": False}}, "ppo learns from answers that are drawn at random"),
            ({"generation": {"stop": ["\n", ""]}}, "generation.stop has an empty text, which every answer begins with"),
            ({"training": {"batch_size": 6, "mini_batch_size": 4}}, "training.mini_batch_size is 4, it must divide training.batch_size, which is 6"),
            ({"training": {"steps": 3, "num_train_epochs": 1}}, "one of them says how long to train"),
        ]
        for inputs, sentence in cases:
            with self.subTest(inputs=inputs), self.assertRaisesRegex(Refused, sentence):
                self.work(**inputs)
        with self.assertRaisesRegex(Failed, "reward_model.positive_label is joy, the reward model has the labels NEGATIVE, POSITIVE"):
            self.work(reward_model={"identifier": "judge", "positive_label": "joy"})
        with self.assertRaisesRegex(Failed, "model base lacks the weights score.weight, which its config.json asks for"):
            self.work(reward_model="base")

    def work(self, **inputs: Any) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        return worked("ppo", self.folder, {**INPUTS, **inputs})

    def fresh_reward(self, model: Path) -> float:
        import torch
        import transformers
        from plan import read_generation
        from policy import Policy
        from rewards import Rewards
        from stoker_job.inputs import Inputs
        from stoker_job.ranks import Ranks
        from stoker_job.sections import section
        from stoker_job.tuning import fields
        from stoker_job.tuning.language_model import Started

        cpu = torch.device("cpu")
        judge = section("reward_model", {"identifier": str(self.folder / "judge")}, fields.REWARD)
        started = Started(transformers.AutoModelForCausalLM.from_pretrained(model), transformers.AutoTokenizer.from_pretrained(model), "x", None, {})
        policy = Policy(started, read_generation(Inputs({"generation": {"max_new_tokens": 8}})), Ranks(0, 1, cpu), section("training", {}, fields.TRAINING["ppo"]))
        torch.manual_seed(1)
        with unittest.mock.patch.dict(os.environ, {"DATA_PATH": str(self.folder)}):
            return Rewards(judge, cpu).of(policy.texts(policy.draw(PROMPTS * 20))).mean().item()


if __name__ == "__main__":
    unittest.main()
