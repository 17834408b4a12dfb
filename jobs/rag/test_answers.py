"""Answers of a tiny language model, compared with direct calls of transformers."""

import unittest
from pathlib import Path
from unittest import mock

from rag_case import ASKED, Rag, enter_models

import transformers
from stoker_job.problems import Failed

TASK = "Answer the question from these passages alone, and name those you used by their numbers, like [1]."


def setUpModule() -> None:
    enter_models()


class Answers(Rag):
    def test_an_answer_is_that_of_a_direct_call_and_is_told_as_it_comes(self) -> None:
        result = self.asked(model={"source": {"type": "local", "identifier": "lm"}}, inference={"max_tokens": 12, "temperature": 0})
        (found,) = result["queries"]
        tokenizer, model = transformers.AutoTokenizer.from_pretrained("lm"), transformers.AutoModelForCausalLM.from_pretrained("lm")
        passages = "\n\n".join(f"[{number}] {one['payload']['text']}" for number, one in enumerate(found["items"], 1))
        prompt = f"{TASK}\n\n{passages}\n\nQuestion: {ASKED['query']}\n\nAnswer:"
        ids = tokenizer(prompt, return_tensors="pt").input_ids
        wanted = tokenizer.decode(model.generate(ids, max_new_tokens=12, do_sample=False, pad_token_id=0)[0, ids.shape[1] :], skip_special_tokens=True)
        self.assertEqual((found["answer"], self.deltas(), found["finish_reason"]), (wanted, wanted, "length"))
        self.assertEqual(found["sources"], [one["id"] for one in found["items"]])
        self.assertEqual((result["usage"]["completion_tokens"], result["usage"]["prompt_tokens"], result["model"]), (12, ids.shape[1], "lm"))
        word = next(wanted[at : at + 2] for at in range(2, len(wanted)) if wanted[at : at + 2].isascii())
        cut = self.asked(model="lm", inference={"max_tokens": 12, "temperature": 0, "stop": [word]})["queries"][0]
        self.assertEqual((cut["answer"], cut["finish_reason"]), (wanted[: wanted.index(word)], "stop"))

    def test_a_seed_repeats_an_answer_and_system_prompts_of_children_are_their_own(self) -> None:
        first, again, other = (self.asked(model="lm", inference={"max_tokens": 8, "seed": seed, "top_p": 1})["queries"][0]["answer"] for seed in (1, 1, 2))
        self.assertEqual(first, again)
        self.assertNotEqual(first, other)
        inference = {"max_tokens": 8, "temperature": 0}
        child = {"task_id": "c", "spec": {**ASKED, "model": "lm", "inference": {**inference, "system_prompt": "a cruel train"}}}
        result = self.asked(model="lm", inference=inference, merge_children=[child])
        alone = self.asked(model="lm", inference={**inference, "system_prompt": "a cruel train"})
        self.assert_same(result["children"]["c"]["queries"], alone["queries"])
        self.assertNotEqual(result["queries"][0]["answer"], alone["queries"][0]["answer"])
        self.assertNotIn("children", alone)
        self.assertTrue(self.deltas().endswith(result["queries"][0]["answer"] + alone["queries"][0]["answer"]))

    def assert_same(self, found: list, wanted: list) -> None:
        """But for the last bits of scores: passages that are encoded together are added up in another order."""
        scores = [[item.pop("score") for one in queries for item in one["items"]] for queries in (found, wanted)]
        self.assertEqual(found, wanted)
        for one, other in zip(*scores, strict=True):
            self.assertAlmostEqual(one, other, places=5)

    def test_a_model_with_a_chat_template_is_asked_by_it(self) -> None:
        result = self.asked(model="chat", inference={"max_tokens": 6, "temperature": 0, "system_prompt": "be kind"}, search={"top_k": 1}, query=["a day", "a house"])
        tokenizer, model = transformers.AutoTokenizer.from_pretrained("chat"), transformers.AutoModelForCausalLM.from_pretrained("chat")
        said = ""
        for found in result["queries"]:
            prompt = f"{TASK}\n\n[1] {found['items'][0]['payload']['text']}\n\nQuestion: {found['query']}\n\nAnswer:"
            ids = tokenizer(f"system: be kind\nuser: {prompt}\nassistant: ", add_special_tokens=False, return_tensors="pt").input_ids
            wanted = tokenizer.decode(model.generate(ids, max_new_tokens=6, do_sample=False, pad_token_id=0)[0, ids.shape[1] :], skip_special_tokens=True)
            self.assertEqual(found["answer"], wanted)
            said += f"{found['query']}\n{wanted}\n\n"
        self.assertEqual(self.deltas(), said)

    def test_a_request_to_stop_ends_an_answer_after_the_token_it_is_at(self) -> None:
        asked = iter([False] * 3)
        with mock.patch("stoker_job.stop.is_asked", lambda: next(asked, True)), self.assertRaises(SystemExit) as stopped:
            self.asked(model="lm", inference={"max_tokens": 200, "temperature": 0})
        self.assertEqual(stopped.exception.code, 143)
        self.assertLessEqual(len(self.deltas()), 4)
        self.assertFalse(Path("outputs").exists())

    def test_passages_that_do_not_fit_are_no_sources(self) -> None:
        found = self.asked(model="lm", search={"top_k": 4}, inference={"max_tokens": 280})["queries"][0]
        self.assertEqual(len(found["items"]), 4)
        self.assertLess(len(found["sources"]), 4)
        with self.assertRaisesRegex(Failed, "the model reads 512 tokens, question, first passage and an answer of 500 tokens are more"):
            self.asked(model="lm", inference={"max_tokens": 500})


if __name__ == "__main__":
    unittest.main()
