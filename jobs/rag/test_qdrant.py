"""Qdrant as the index: against a small server that speaks its documented REST shapes, for Qdrant itself is not at hand."""

import json
import os
import unittest
from unittest import mock

from rag_case import Rag, enter_models

from qdrant_stand_in import QdrantStandIn
from stoker_job.problems import Failed, Refused


def setUpModule() -> None:
    enter_models()


class Qdrant(Rag):
    def setUp(self) -> None:
        super().setUp()
        self.enterContext(mock.patch.dict(os.environ, PRIVATE_HOSTS="localhost, 127.0.0.1", QDRANT_API_KEY="key"))
        self.server = self.enterContext(QdrantStandIn("key"))
        self.there = {"url": self.server.url, "collection": "notes"}

    def test_documents_are_written_to_a_collection_and_found_there_as_in_an_index_of_ones_own(self) -> None:
        wanted = self.asked(query=["a day", "the train was broken today"])
        result = self.asked(query=["a day", "the train was broken today"], qdrant=self.there)
        self.assertEqual((result["qdrant"], result["index"], wanted["documents"]), (self.there, None, result["documents"]))
        for mine, theirs in zip(result["queries"], wanted["queries"], strict=True):
            self.assertEqual([one["payload"]["text"] for one in mine["items"]], [one["payload"]["text"] for one in theirs["items"]])
            for one, other in zip(mine["items"], theirs["items"], strict=True):
                self.assertAlmostEqual(one["score"], other["score"], places=5)
        self.assertEqual(result["queries"][1]["items"][0]["payload"]["id"], "train")
        self.server.calls.clear()
        later = self.asked(documents=None, qdrant={**self.there, "api_key": "key"})
        self.assertEqual(later["queries"][0]["items"], result["queries"][1]["items"])
        self.assertEqual(self.server.calls, ["GET /collections/notes", "POST /collections/notes/points/query/batch"])
        self.assertNotIn("key", json.dumps(later["qdrant"]).replace("api_key", ""))

    def test_a_named_vector_is_used_and_what_does_not_fit_is_told(self) -> None:
        self.server.collections["named"] = {"vectors": {"text": {"size": 32, "distance": "Cosine"}}, "points": {}}
        found = self.asked(qdrant={**self.there, "collection": "named"})["queries"][0]["items"][0]
        self.assertAlmostEqual(found["score"], 1, places=5)
        self.server.collections["small"] = {"vectors": {"size": 8, "distance": "Cosine"}, "points": {}}
        cases = [
            ({**self.there, "collection": "small"}, "has vectors of 8 numbers, those of the encoder have 32"),
            ({**self.there, "collection": "gone"}, "qdrant answers 404 to GET .*gone: Not found: Collection `gone` doesn't exist!"),
            ({**self.there, "api_key": "wrong"}, "qdrant answers 401 .*: Invalid API key"),
            ({**self.there, "collection": ".."}, "it must be of letters"),
        ]
        for asked, sentence in cases:
            with self.subTest(asked), self.assertRaisesRegex((Refused, Failed), sentence):
                self.asked(qdrant=asked, documents=None)


if __name__ == "__main__":
    unittest.main()
