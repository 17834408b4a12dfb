"""Stands in for the notebook workers of TrainForge, type A and type B, as strict as they are; only their waits can be shorter.

A reads `success` of a claim, sends log batches and no heartbeat while it works. B takes any 200, sends one line at a time,
beats on, uploads results, and never says `running`. Both lose claims without a pause, and run train.py, main.py or run.py.
"""
import argparse
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
import zipfile


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--api", required=True)
    parser.add_argument("--token", required=True)
    parser.add_argument("--type", choices=["a", "b"], required=True)
    parser.add_argument("--worker-id", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--idle-seconds", type=float, default=5)
    return parser.parse_args()


class Notebook:
    def __init__(self, told):
        self.told = told
        self.lost_claims = 0

    def call(self, method, path, body=None, kind="application/json", timeout=10):
        headers = {"User-Agent": "TrainForge-Worker/1.0", "ngrok-skip-browser-warning": "true"}
        headers["Authorization"] = "Bearer " + self.told.token
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        if data is not None or self.told.type == "a":
            headers["Content-Type"] = kind
        request = urllib.request.Request(self.told.api + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()
        except OSError as error:
            return 0, str(error).encode()

    def enter(self):
        if self.call("GET", "/health")[0] != 200:
            sys.exit("no healthy hub")
        if self.told.type == "b":
            self.call("GET", "/api/jobs/pending")
            body = {"worker_id": self.told.worker_id, "platform": "kaggle", "gpu_available": False, "gpu_name": "None"}
            self.call("POST", "/api/workers/register", dict(body, gpu_memory_gb=0, status="idle", last_heartbeat=time.time()))
        else:
            body = {"worker_id": self.told.worker_id, "status": "idle", "worker_type": "external_colab"}
            body.update(location="google_colab", gpu_name="None", gpu_memory_gb=0, capabilities={"gpu_count": 0})
            while self.call("POST", "/api/workers/register", body)[0] not in (200, 201):
                time.sleep(1)
        print(json.dumps({"ready": True}), flush=True)

    def go(self):
        while True:
            status, text = self.call("GET", "/api/jobs/pending")
            jobs = json.loads(text) if status == 200 else []
            if not jobs:
                if self.told.type == "a" and self.beat() != 200:
                    self.enter()
                time.sleep(self.told.idle_seconds)
                continue
            name = jobs[0]["job_id"]
            status, text = self.call("POST", "/api/jobs/%s/claim" % name, {"worker_id": self.told.worker_id})
            if status == 200 and (self.told.type == "b" or json.loads(text).get("success")):
                self.work(name)

    def beat(self):
        path = "/api/workers/%s/heartbeat" % self.told.worker_id
        return self.call("POST", path, {"timestamp": time.time()})[0]

    def work(self, name):
        folder = tempfile.mkdtemp(dir=self.told.folder)
        status, text = self.call("GET", "/api/jobs/%s/files" % name)
        if status != 200:
            self.call("PUT", "/api/jobs/%s/status" % name, {"status": "failed", "message": "no files"})
            return
        zipfile.ZipFile(io.BytesIO(text)).extractall(folder)
        script = next(each for each in ("train.py", "main.py", "run.py") if os.path.exists(os.path.join(folder, each)))
        child = subprocess.Popen([sys.executable, script], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        lines = [line.rstrip("\n") for line in child.stdout]
        code = child.wait()
        self.log(name, lines)
        if self.told.type == "b":
            self.results(name, folder)
        end = {"status": "completed", "message": "ok"} if code == 0 else {"status": "failed", "message": "code %d" % code}
        self.call("PUT", "/api/jobs/%s/status" % name, end)

    def log(self, name, lines):
        if self.told.type == "a":
            batch = [{"message": line, "timestamp": time.time()} for line in lines]
            self.call("POST", "/api/jobs/%s/logs/batch" % name, {"logs": batch})
            return
        for line in lines:
            self.call("POST", "/api/jobs/%s/logs" % name, {"message": line, "timestamp": time.time()})

    def results(self, name, folder):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.write(os.path.join(folder, "train.py"), "train.py")
        head = b'--edge\r\nContent-Disposition: form-data; name="results_zip"; filename="results.zip"\r\n'
        body = head + b"Content-Type: application/zip\r\n\r\n" + packed.getvalue() + b"\r\n--edge--\r\n"
        self.call("POST", "/api/jobs/%s/results" % name, body, kind="multipart/form-data; boundary=edge")


def main():
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    notebook = Notebook(arguments())
    notebook.enter()
    if notebook.told.type == "b":
        threading.Thread(target=beats, args=(notebook,), daemon=True).start()
    notebook.go()


def beats(notebook):
    while True:
        notebook.beat()
        time.sleep(30)


main()
