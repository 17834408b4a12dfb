"""Tuned weights from a real server, with the headers it asks for; the guard of addresses is lifted for the server of the test."""

import contextlib
import functools
import hashlib
import http.server
import io
import sys
import tarfile
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

sys.path.append(str(Path(__file__).resolve().parent))

from stoker_job import locate
from stoker_job.fetch import fetch
from stoker_job.problems import Failed, Refused
from stoker_job.weights_load import load_asked, loaded_folder

CONTENT = io.BytesIO()
with tarfile.open(fileobj=CONTENT, mode="w:gz") as archive:
    entry = tarfile.TarInfo("final_model/config.json")
    entry.size = 2
    archive.addfile(entry, io.BytesIO(b"{}"))
SHA256 = hashlib.sha256(CONTENT.getvalue()).hexdigest()


def loaded(given: dict[str, Any]) -> Path:
    asked = load_asked({"load": given})
    assert asked is not None
    return loaded_folder(asked)


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        is_known = self.path == "/api/v1/results/t1/files/archive" and self.headers["authorization"] == "Bearer T"
        self.send_response(302 if self.path == "/moved" else 200 if is_known else 401)
        if self.path == "/moved":
            self.send_header("location", f"http://localhost:{self.server.server_address[1]}/api/v1/results/t1/files/archive")
        self.end_headers()
        self.wfile.write(CONTENT.getvalue() if is_known else b"")

    def log_message(self, *_: object) -> None:
        pass


class Load(unittest.TestCase):
    def setUp(self) -> None:
        self.enterContext(contextlib.chdir(self.enterContext(tempfile.TemporaryDirectory())))
        server = self.enterContext(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site))
        self.site = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        self.enterContext(contextlib.redirect_stdout(io.StringIO()))
        self.enterContext(mock.patch.object(locate, "fetch", functools.partial(fetch, is_allowed=lambda _: True)))

    def test_an_archive_by_url_and_by_task_is_unpacked_whatever_its_name(self) -> None:
        how = {"sha256": SHA256, "headers": {"Authorization": "Bearer T"}}
        by_url = loaded({"type": "http", "url": f"{self.site}/api/v1/results/t1/files/archive", **how})
        by_task = loaded({"path": "not-there", "task_id": "t1", "base_url": self.site + "/", "filename": "archive", "archive_format": "tar", **how})
        for folder in (by_url, by_task):
            self.assertEqual([file.name for file in folder.iterdir()], ["config.json"])

    def test_what_another_job_left_is_found_by_its_task_as_folder_archive_or_named_file(self) -> None:
        Path("t1/outputs/final_model").mkdir(parents=True)
        for place in ("t2/final_model.tar.gz", "t2/step-7", "t3.tgz"):
            Path(place).parent.mkdir(exist_ok=True)
            Path(place).write_bytes(CONTENT.getvalue())
        self.assertEqual(loaded({"taskId": "t1"}), Path("t1/outputs/final_model").resolve())
        for given in ({"task_id": "t2"}, {"taskId": "t2", "filename": "step-7", "sha256": SHA256}, {"uri": "file://t3.tgz", "archive_format": "tar"}):
            self.assertEqual([file.name for file in loaded(given).iterdir()], ["config.json"])
        with self.assertRaisesRegex(Failed, "t3.tgz is a file that is not unpacked"):
            loaded({"path": "t3.tgz", "archive_format": "none"})

    def test_what_is_wrong_is_told(self) -> None:
        url = f"{self.site}/api/v1/results/t1/files/archive"
        headers = {"Authorization": "Bearer T"}
        cases = [
            ({"url": url, "headers": headers}, "checkpoint.load.url needs checkpoint.load.sha256"),
            ({"url": url, "sha256": SHA256}, "answers 401"),
            ({"url": f"{self.site}/moved", "sha256": SHA256, "headers": headers}, "answers 401"),
            ({"url": url, "sha256": SHA256, "headers": headers, "archive_format": "zip"}, "archive_format is zip, archive is a tar"),
            ({"url": url, "sha256": SHA256, "headers": headers, "archive_format": "none"}, "not unpacked"),
            ({"url": url, "sha256": SHA256, "headers": [1]}, "checkpoint.load.headers is not a map of texts"),
            ({"type": "http", "path": "x"}, "checkpoint.load.type is http and there is no checkpoint.load.url"),
            ({"task_id": "t1", "base_url": self.site, "filename": "../x"}, "it must be the name of a file"),
            ({"task_id": "t1", "base_url": self.site}, "base_url is .*, with it task_id and filename say which file"),
            ({"path": "x", "filename": "y"}, "filename is .* and there is no taskId that has it"),
            ({"type": "local", "url": url}, "checkpoint.load.type is local and there is checkpoint.load.url"),
            ({"taskId": "t1", "filename": "y"}, "has no folder t1/y among the job's files"),
            ({"taskId": "../t1"}, "it must be an id"),
            ({"taskId": "a", "task_id": "b"}, "one of them names the task"),
            ({"uri": "s3://x/y"}, "only file:// and paths"),
            ({}, "needs path or url"),
        ]
        for given, sentence in cases:
            with self.subTest(sentence), self.assertRaisesRegex((Failed, Refused), sentence):
                loaded(given)


if __name__ == "__main__":
    unittest.main()
