"""Fetches from a real server; the guard of addresses is lifted where the server of the test must be reached."""

import hashlib
import http.server
import sys
import tempfile
import threading
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent))

from stoker_job.fetch import fetch, is_public
from stoker_job.problems import Failed, Refused

CONTENT = b"digits" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Site(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        code = {"/data": 200, "/moved": 302, "/inside": 302}.get(self.path, 404)
        self.send_response(code)
        if code == 302:
            self.send_header("location", "/data" if self.path == "/moved" else "ftp://example.org/data")
        self.send_header("content-length", str(len(CONTENT)))
        self.end_headers()
        self.wfile.write(CONTENT)

    def log_message(self, *_: object) -> None:
        pass


class Fetch(unittest.TestCase):
    def setUp(self) -> None:
        self.target = Path(self.enterContext(tempfile.TemporaryDirectory())) / "data"
        server = self.enterContext(http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site))
        self.site = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        self.enterContext(silent_stdout())

    def test_a_file_with_the_right_checksum_is_kept_also_after_a_redirect(self) -> None:
        for path in ("/data", "/moved"):
            self.target.unlink(missing_ok=True)
            fetch("dataset", self.site + path, self.target, SHA256, lambda _: True)
            self.assertEqual(self.target.read_bytes(), CONTENT)

    def test_another_checksum_an_error_page_and_a_foreign_scheme_leave_nothing(self) -> None:
        cases = [("/data", "0" * 64, f"has the SHA-256 {SHA256}, {'0' * 64} was expected"), ("/none", SHA256, "answers 404"), ("/inside", SHA256, "only http and https")]
        for path, sha256, reason in cases:
            with self.subTest(path), self.assertRaisesRegex((Failed, Refused), reason):
                fetch("dataset", self.site + path, self.target, sha256, lambda _: True)
            self.assertEqual(list(self.target.parent.iterdir()), [])

    def test_addresses_that_are_not_public_are_refused(self) -> None:
        with self.assertRaisesRegex(Refused, "127.0.0.1, which is no public address"):
            fetch("dataset", self.site + "/data", self.target, SHA256)
        inside = ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "::1", "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1", "0.0.0.0"]
        self.assertEqual([one for one in inside if is_public(one)], [])
        self.assertTrue(is_public("8.8.8.8"))


def silent_stdout():
    import contextlib
    import io

    return contextlib.redirect_stdout(io.StringIO())


if __name__ == "__main__":
    unittest.main()
