"""Paths and archives that an input names."""

import contextlib
import io
import os
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path
from unittest import mock

sys.path.append(str(Path(__file__).resolve().parent))

from stoker_job.locate import locate
from stoker_job.problems import Failed, Refused


class Locate(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory())).resolve()
        self.enterContext(contextlib.chdir(self.folder))

    def test_only_the_jobs_folder_and_the_listed_ones_are_open(self) -> None:
        (self.folder / "digits").mkdir()
        (self.folder / "out").symlink_to("/usr")
        self.assertEqual(locate("dataset", "digits", None), self.folder / "digits")
        for outside in ("/usr", "..", "digits/../../..", "out"):
            with self.subTest(outside), self.assertRaisesRegex(Refused, "lies outside the job's folder"):
                locate("dataset", outside, None)
        with mock.patch.dict(os.environ, DATA_PATH="/var:/usr"):
            self.assertEqual(locate("dataset", "/usr", None), Path("/usr"))

    def test_what_is_not_there_is_told_with_what_is(self) -> None:
        (self.folder / "digits").mkdir()
        with self.assertRaisesRegex(Failed, "dataset digit does not exist; the job's folder has digits"):
            locate("dataset", "digit", None)

    def test_a_url_needs_a_checksum_and_a_file_must_have_the_one_that_was_said(self) -> None:
        (self.folder / "a").write_text("a")
        with self.assertRaisesRegex(Refused, "so dataset_sha256 is needed"):
            locate("dataset", "https://example.org/a", None)
        with self.assertRaisesRegex(Refused, "dataset_sha256 has 3 characters"):
            locate("dataset", "a", "abc")
        with self.assertRaisesRegex(Failed, "the job says 0000"):
            locate("dataset", "a", "0" * 64)

    def test_archives_are_unpacked_beside(self) -> None:
        with zipfile.ZipFile("a.zip", "w") as archive:
            archive.writestr("digits/x", "1")
        with tarfile.open("a.tar.gz", "w:gz") as archive:
            archive.add("a.zip", "b/x")
        self.assertEqual((locate("dataset", "a.zip", None) / "x").read_text(), "1")
        self.assertEqual([one.name for one in locate("dataset", "a.tar.gz", None).iterdir()], ["x"])

    def test_an_archive_that_leads_outside_or_is_cut_leaves_nothing(self) -> None:
        with tarfile.open("evil.tar", "w") as archive:
            entry = tarfile.TarInfo("../../evil")
            entry.size = 1
            archive.addfile(entry, io.BytesIO(b"x"))
        Path("cut.zip").write_bytes(b"PK\x03\x04")
        for name in ("evil.tar", "cut.zip"):
            with self.subTest(name), self.assertRaisesRegex(Failed, f"{name} is no whole archive"):
                locate("dataset", name, None)
        self.assertEqual(list(Path(".cache/unpacked").iterdir()), [])
        self.assertFalse((self.folder.parent / "evil").exists())


if __name__ == "__main__":
    unittest.main()
