"""Stands in for an old TrainForge worker node: as strict and as careless as the real one, only its waits can be shorter.

It needs exactly 200 on registration and reads no answer but that of its poll; it beats only without GPUs; one thread polls,
starts jobs one after the other and says `running` before it polls again; another looks for ended programs every ten
seconds; a report that fails is lost for good; a job that cannot start is never mentioned.
"""
import argparse
import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--scheduler", default="http://localhost:3000")
    parser.add_argument("--worker-id", default="worker_%s_%d" % (os.uname().nodename, os.getpid()))
    parser.add_argument("--max-jobs", type=int, default=4)
    parser.add_argument("--gpus", default="[]", help="what resource discovery finds")
    parser.add_argument("--docker", action="store_true", help="a Docker daemon answers")
    parser.add_argument("--install", default="/nonexistent", help="the folder of its api folder")
    parser.add_argument("--refuse", type=int, default=0, help="so many offers find no free core")
    parser.add_argument("--poll-seconds", type=float, default=5)
    parser.add_argument("--check-seconds", type=float, default=10)
    parser.add_argument("--discovery-seconds", type=float, default=21)
    return parser.parse_args()


class Node:
    def __init__(self, told):
        self.told = told
        url = urllib.parse.urlsplit(told.scheduler)
        host = url.hostname + ("" if url.port is None else ":%d" % url.port)
        self.base = urllib.parse.urlunsplit((url.scheme, host, url.path.rstrip("/"), "", ""))
        self.headers = {"User-Agent": "python-requests/2.31.0", "Content-Type": "application/json"}
        if url.username is not None:
            pair = "%s:%s" % (url.username, url.password or "")
            self.headers["Authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        self.gpus = json.loads(told.gpus)
        self.free_gpus = [gpu["gpu_id"] for gpu in self.gpus]
        self.active = {}
        self.refuse = told.refuse
        self.lock = threading.Lock()
        self.is_running = True

    def call(self, method, path, body=None, timeout=10):
        data = None if body is None else json.dumps(body).encode()
        headers = dict(self.headers) if data is not None else {k: v for k, v in self.headers.items() if k != "Content-Type"}
        request = urllib.request.Request(self.base + path, data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=timeout) as reply:
                return reply.status, reply.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read()

    def register(self):
        info = {
            "worker_id": self.told.worker_id,
            "hostname": os.uname().nodename,
            "platform": sys.platform,
            "python_version": sys.version,
            "cpu_count": 16,
            "memory_total_gb": 23.540592,
            "disk_total_gb": 251.972278,
            "gpu_count": len(self.gpus),
            "gpus": self.gpus,
        }
        able = {"max_concurrent_jobs": self.told.max_jobs, "supports_gpu": bool(self.gpus), "supports_docker": self.told.docker}
        status, text = self.call("POST", "/api/workers/register", {"worker_info": info, "capabilities": able})
        if status != 200:
            print("registration failed: %s" % text.decode(), flush=True)
            sys.exit(0)
        print(json.dumps({"ready": True}), flush=True)

    def heartbeats(self):
        while self.is_running:
            try:
                if self.gpus:
                    raise TypeError("Object of type GPUStatus is not JSON serializable")
                beat = {"worker_id": self.told.worker_id, "timestamp": time.time(), "active_jobs": len(self.active)}
                beat.update(max_jobs=self.told.max_jobs, memory_usage=6.4, load_average=[0.9, 0.7, 0.3])
                self.call("POST", "/api/workers/heartbeat", beat)
                time.sleep(30)
            except Exception as error:
                print("heartbeat: %s" % error, flush=True)
                time.sleep(60)

    def polls(self):
        while self.is_running:
            try:
                if len(self.active) < self.told.max_jobs:
                    query = urllib.parse.urlencode({"worker_id": self.told.worker_id})
                    status, text = self.call("GET", "/api/workers/jobs?" + query)
                    jobs = json.loads(text).get("jobs", []) if status == 200 and text else []
                    for job in jobs:
                        if len(self.active) < self.told.max_jobs and job["job_id"] not in self.active:
                            self.start(job)
                time.sleep(self.told.poll_seconds)
            except Exception as error:
                print("poll: %s" % error, flush=True)
                time.sleep(2 * self.told.poll_seconds)

    def start(self, job):
        """Whatever goes wrong here is printed and forgotten."""
        name = job["job_id"]
        try:
            needs = job.get("resources", {})
            gpu, cpu = needs.get("gpu", 1), needs.get("cpu", 2)
            script = job.get("training", {}).get("script", "train.py")
            if cpu < 1 or self.refuse > 0:
                self.refuse -= 1
                raise RuntimeError("no free core")
            if self.told.docker or gpu > 1:
                raise AttributeError("no start routine")
            device = self.take_gpu(gpu)
            env = dict(os.environ, TRAINFORGE_JOB_ID=name, PYTHONUNBUFFERED="1", CUDA_VISIBLE_DEVICES=str(device))
            child = subprocess.Popen(["python", script], cwd=self.project(name), env=env)
        except Exception as error:
            print("job %s: %s" % (name, error), flush=True)
            return
        with self.lock:
            self.active[name] = (child, time.time(), device)
        self.report(name, "running")

    def take_gpu(self, count):
        if count == 0:
            return -1
        large = [g["gpu_id"] for g in self.gpus if g["memory_mb"] >= 4096 and g["gpu_id"] in self.free_gpus]
        if not large:
            raise RuntimeError("no free GPU")
        self.free_gpus.remove(large[0])
        return large[0]

    def project(self, name):
        install = os.path.join(self.told.install, "api", "storage", "projects")
        places = [os.path.join(install, "projects"), install, os.path.join(os.getcwd(), "storage", "projects"), "/tmp/trainforge"]
        for place in places:
            if os.path.isdir(os.path.join(place, name)):
                return os.path.join(place, name)
        raise RuntimeError("no project directory")

    def report(self, name, status, **more):
        body = {"worker_id": self.told.worker_id, "job_id": name, "status": status, "timestamp": time.time()}
        try:
            self.call("POST", "/api/workers/job-status", dict(body, **more))
        except Exception as error:
            print("report %s of %s is lost: %s" % (status, name, error), flush=True)

    def checks(self):
        while self.is_running:
            for name, (child, began, device) in list(self.active.items()):
                if child.poll() is not None:
                    status = "completed" if child.returncode == 0 else "failed"
                    self.report(name, status, exit_codes=[child.returncode], duration=time.time() - began)
                    with self.lock:
                        self.active.pop(name, None)
                    if device >= 0:
                        self.free_gpus.append(device)
            time.sleep(self.told.check_seconds)

    def stop(self, *_):
        self.is_running = False
        for name, (child, _began, _device) in list(self.active.items()):
            child.terminate()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
            self.report(name, "cancelled")
        try:
            self.call("POST", "/api/workers/unregister", {"worker_id": self.told.worker_id}, timeout=5)
        except Exception as error:
            print("unregister: %s" % error, flush=True)
        os._exit(0)


def main():
    node = Node(arguments())
    time.sleep(node.told.discovery_seconds)
    node.register()
    signal.signal(signal.SIGTERM, node.stop)
    signal.signal(signal.SIGINT, node.stop)
    for work in (node.heartbeats, node.polls, node.checks):
        threading.Thread(target=work, daemon=True).start()
    while True:
        time.sleep(1)


main()
