"""A QUBIX worker as old ones are: one thread, a fresh connection for every call, nothing but 200 is good.

--variant simple: jobs come in answers to heartbeats only, and are loops of arithmetic.
--variant enhanced: it also polls, and runs scripts as they are.
--speed divides every pause; timeouts stay as they are. Each line on stdout tells of one call or job, as JSON.
"""

import argparse
import base64
import hashlib
import http.client
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import traceback
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

USAGE = {"cpuPercent": 12.5, "ramPercent": 13.6}


class Worker:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.is_simple = options.variant == "simple"
        self.backend: str = options.backend
        self.id: str = options.worker_id
        self.progress_at = 0.0
        self.heartbeat_at = 0.0

    def tell(self, **facts: Any) -> None:
        print(json.dumps(facts), flush=True)

    def pause(self, seconds: float) -> None:
        time.sleep(seconds / self.options.speed)

    def call(self, method: str, path: str, body: Any, timeout: float) -> tuple[int, bytes]:
        """One request on a connection of its own; addresses are pasted together."""
        url = urlsplit(self.backend + path)
        headers = {"Accept": "*/*", "Connection": "close"}
        if url.username is not None:
            pair = f"{url.username}:{url.password or ''}".encode()
            headers["Authorization"] = "Basic " + base64.b64encode(pair).decode()
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        connection = http.client.HTTPConnection(url.hostname or "", url.port or 80, timeout=timeout)
        try:
            connection.request(method, url.path, data, headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        self.tell(call=f"{method} {path}", status=answer.status)
        return answer.status, content

    def register(self) -> bool:
        specs = {
            "worker_id": self.id, "hostname": self.options.hostname, "os": "Linux 6.1", "cpu_model": "AMD Ryzen 7",
            "cpu_cores": 8, "cpu_freq_ghz": 3.6, "ram_total_gb": 31.84, "ram_available_gb": 27.5,
            "gpu_available": False, "gpu_model": "None", "gpu_vram_gb": 0,
            "storage_total_gb": 476.32, "storage_free_gb": 120.4,
        }
        body = {
            "worker_id": self.id, "name": self.options.name or f"Provider-{self.id[:8]}",
            "address": f"QUBIC_{self.id.upper()}", "location": self.options.location,
            "computePower": 80, "pricePerHour": self.options.price, "isActive": True, "specs": specs,
        }
        try:
            status, content = self.call("POST", "/api/providers/register", body, 10)
            if status != 200:
                return False
            if self.is_simple:
                provider = json.loads(content).get("provider", {})
                provider.get("id")
            return True
        except Exception as error:
            self.tell(error=f"register: {error}")
            return False

    def heartbeat(self) -> list[Any]:
        """What it may do next; an answer that is not one is no job."""
        self.heartbeat_at = time.monotonic()
        usage: dict[str, Any] = {**USAGE, "timestamp": datetime.now().isoformat()}
        if self.is_simple:
            usage |= {"ramUsedGb": 4.34, "ramTotalGb": 31.84}
        body = {"workerId": self.id, "status": "online", "currentJob": None, "usage": usage}
        try:
            status, content = self.call("POST", f"/api/providers/{self.id}/heartbeat", body, 5)
            answer = json.loads(content) if status == 200 else {}
        except Exception as error:
            self.tell(error=f"heartbeat: {error}")
            return []
        return checked(answer.get("pendingJobs") or [])

    def poll(self) -> list[Any]:
        try:
            status, content = self.call("GET", f"/api/jobs/pending/{self.id}", None, 5)
            answer = json.loads(content) if status == 200 else []
        except Exception as error:
            self.tell(error=f"poll: {error}")
            return []
        return checked(answer) if isinstance(answer, list) else []

    def progress(self, job: str, percent: int, operation: str) -> None:
        """The enhanced worker drops what comes sooner than ten seconds after the last, also from one job to the next."""
        body: dict[str, Any] = {"workerId": self.id, "progress": percent, "timestamp": datetime.utcnow().isoformat()}
        if self.is_simple:
            body["metrics"] = {"cpuPercent": 0, "ramPercent": 0, "gpuPercent": None, "gpuTemp": None}
        else:
            if time.monotonic() - self.progress_at < 10 / self.options.speed:
                return
            self.progress_at = time.monotonic()
            body |= {"currentOperation": operation, "metrics": {}}
        try:
            self.call("POST", f"/api/jobs/{job}/progress", body, 5)
        except Exception as error:
            self.tell(error=f"progress: {error}")

    def complete(self, job: str, body: dict[str, Any]) -> None:
        """Said once; a broken connection makes a failure of every success."""
        path = f"/api/jobs/{job}/complete"
        stamp = {"workerId": self.id, "timestamp": datetime.utcnow().isoformat()}
        try:
            status, content = self.call("POST", path, {**stamp, **body}, 10)
            duplicate = json.loads(content).get("duplicate", False) if status == 200 else None
            self.tell(reported=job, as_=body["status"], status=status, duplicate=duplicate)
        except Exception as error:
            self.tell(error=f"complete: {error}")
            self.pause(2)
            failure = {"status": "failed", "error": f"Failed to report completion: {error}"}
            try:
                self.call("POST", path, {**stamp, **failure}, 10)
            except Exception as again:
                self.tell(error=f"complete again: {again}")

    def execute(self, job: dict[str, Any]) -> None:
        id_ = job.get("id", "unknown")
        self.tell(executes=id_)
        started = time.monotonic()
        try:
            result = self.compute(id_, job) if self.is_simple else self.run(id_, job)
            metrics = {"processingTimeSeconds": time.monotonic() - started}
            if self.is_simple:
                metrics |= {"cpuUsageAvg": 12.5, "ramUsageAvg": 13.6}
            else:
                result = {**result, "metrics": metrics}
            self.complete(id_, {"status": "completed", "result": result, "error": None, "metrics": metrics})
        except Exception as error:
            details = None if self.is_simple else {"error": str(error), "errorDetails": traceback.format_exc()}
            self.complete(id_, {"status": "failed", "result": details, "error": str(error), "metrics": {}})
        self.heartbeat()

    def compute(self, id_: str, job: dict[str, Any]) -> dict[str, Any]:
        kind = job.get("modelType", "inference")
        steps = max(10, math.floor(10 * job.get("computeNeeded", 1)))
        for step in range(1, steps + 1):
            self.pause(0.78)
            self.progress(id_, math.floor(100 * step / steps), "")
        found = {"jobType": kind, "status": "completed", "timestamp": datetime.now().isoformat()}
        if kind == "fine-tuning":
            found |= {"modelUrl": "ipfs://Qm" + "0" * 32, "checkpointUrl": "ipfs://Qm" + "1" * 32}
        return {**found, "computationData": {"iterations": 200000, "result": 1.0}}

    def run(self, id_: str, job: dict[str, Any]) -> dict[str, Any]:
        kind = job["jobType"] if "jobType" in job else job.get("modelType", "custom")
        told = job.get("inputData", {})
        script = told.get("script")
        if "mnist" in kind.lower() or kind == "training" or "stable" in kind.lower() or "diffusion" in kind.lower():
            raise RuntimeError("this stand-in makes nothing up")
        if not script:
            raise RuntimeError("No script content or URL provided")
        self.progress(id_, 20, "Executing script")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "script.py")
            with open(file, "w", encoding="utf-8") as out:
                out.write(script)
            done = subprocess.run([sys.executable, file], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"Script failed with exit code {done.returncode}: {done.stderr}")
        lines = {"stdout": done.stdout.split("\n")[-100:], "stderr": done.stderr.split("\n")[-100:]}
        return {"status": "success", "exitCode": 0, **lines}

    def serve(self) -> None:
        if not self.register():
            self.pause(10)
            if not self.register():
                self.tell(gives_up=True)
                return
        self.tell(ready=True)
        jobs = self.heartbeat()
        while True:
            if jobs:
                self.execute(jobs[0])
            elif time.monotonic() - self.heartbeat_at >= 30 / self.options.speed:
                jobs = self.heartbeat()
                if jobs:
                    continue
            if not self.is_simple:
                jobs = self.poll()
                if jobs:
                    self.execute(jobs[0])
            jobs = []
            self.pause(5)


def checked(jobs: Any) -> list[Any]:
    """Where the old ones break, this one does: only lists of objects, and no nulls in them."""
    if not isinstance(jobs, list):
        raise SystemExit(f"jobs are no list: {jobs!r}")
    for job in jobs:
        if not isinstance(job, dict):
            raise SystemExit(f"a job is no object: {job!r}")
        needed = ("id", "jobType", "modelType", "computeNeeded", "inputData")
        if any(job.get(key) is None for key in needed) or not job["computeNeeded"] > 0:
            raise SystemExit(f"a job lacks something: {job!r}")
    return jobs


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--backend", default="http://127.0.0.1:3001")
    parser.add_argument("--price", type=float, default=5.0)
    parser.add_argument("--name")
    parser.add_argument("--location", default="Local Network")
    parser.add_argument("--variant", choices=["simple", "enhanced"], default="enhanced")
    parser.add_argument("--speed", type=float, default=1.0)
    parser.add_argument("--hostname", default="pc1")
    parser.add_argument("--worker-id")
    options = parser.parse_args()
    options.worker_id = options.worker_id or hashlib.sha256((options.name or "x").encode()).hexdigest()[:16]
    Worker(options).serve()


main()
