"""Which model a name means; nothing is loaded."""

import contextlib
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import stoker_job  # noqa: F401 - finds emit
from stoker_job.model_source import source_of
from stoker_job.problems import Failed, Refused


class Named(unittest.TestCase):
    def setUp(self) -> None:
        self.enterContext(contextlib.chdir(self.enterContext(tempfile.TemporaryDirectory())))
        for folder in ("given", "other"):
            Path(folder).mkdir()
            Path(folder, "config.json").write_text("{}")
        self.enterContext(mock.patch.dict(os.environ, MODEL_PATH=str(Path("given").resolve()), MODEL_NAME="org/given"))

    def test_no_name_and_its_own_name_mean_the_model_of_the_job(self) -> None:
        for value in (None, "org/given"):
            found = source_of("model", value)
            self.assertEqual((found.name, found.place, found.is_local), ("org/given", os.environ["MODEL_PATH"], True))

    def test_another_name_is_a_folder_of_the_job_or_a_model_of_the_hub(self) -> None:
        self.assertEqual(source_of("model", "other").place, str(Path("other").resolve()))
        unreached = mock.patch("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
        for value, revision in (("org/another", None), ("org/given", "v2")):
            with unreached, self.assertRaisesRegex(Failed, f"model {value} is not in the job's folder, .* cannot be reached"):
                source_of("model", value, revision=revision)

    def test_without_a_model_of_the_job_a_name_is_needed(self) -> None:
        with mock.patch.dict(os.environ, MODEL_PATH=""), self.assertRaisesRegex(Refused, "model is missing and MODEL_PATH has no model"):
            source_of("model", None)


if __name__ == "__main__":
    unittest.main()
