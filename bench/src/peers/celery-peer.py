"""Celery as its users meet it: a worker with tasks, and a program that sends them and measures itself.

celery-peer.py REDIS_URL worker THREADS | submit JOBS THREADS | run TASK JOBS | waits JOBS | forget
"""

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from celery import Celery
from celery.signals import worker_ready

DONE_WITHIN_S = 60.0
PAUSE_S = 0.0073

app = Celery("bench", broker=sys.argv[1] + "/1", backend=sys.argv[1] + "/2")
# A task is acknowledged after its run and its result is kept: what is measured survives a crash, as in the other houses.
app.conf.update(task_acks_late=True, worker_prefetch_multiplier=64, broker_pool_limit=50, worker_redirect_stdouts=False)
worker_ready.connect(lambda **_: print("ready", flush=True), weak=False)


@app.task(name="stamp")
def stamp() -> float:
    return time.time()


@app.task(name="spawn")
def spawn() -> None:
    subprocess.run(["/bin/true"], check=True)


TASKS = {"stamp": stamp, "spawn": spawn}


def submit(jobs: int, threads: int) -> float:
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda _: stamp.delay(), range(threads)))
        started = time.perf_counter()
        list(pool.map(lambda _: stamp.delay(), range(jobs)))
        return jobs / (time.perf_counter() - started)


def run(task: str, jobs: int) -> float:
    results = app.backend.client
    results.flushdb()
    started = time.perf_counter()
    for _ in range(jobs):
        TASKS[task].delay()
    while results.dbsize() < jobs:
        if time.perf_counter() - started > DONE_WITHIN_S:
            raise TimeoutError(f"{jobs} jobs should be done, {results.dbsize()} are")
        time.sleep(0.01)
    return jobs / (time.perf_counter() - started)


def waits(jobs: int) -> list[float]:
    stamp.delay().get(timeout=DONE_WITHIN_S)
    sent = []
    for _ in range(jobs):
        at = time.time()
        sent.append((at, stamp.delay()))
        time.sleep(PAUSE_S)
    return [(result.get(timeout=DONE_WITHIN_S) - at) * 1000 for at, result in sent]


def forget() -> None:
    """What an earlier measure only submitted would otherwise be run, and counted, by the next worker."""
    app.control.purge()
    app.backend.client.flushdb()


def main(what: str, args: list[str]) -> None:
    if what == "worker":
        quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=WARNING"]
        # Threads were faster than forked processes here, for both tasks.
        app.worker_main(["worker", "--pool=threads", f"--concurrency={args[0]}", *quiet])
    elif what == "submit":
        print(submit(int(args[0]), int(args[1])))
    elif what == "run":
        print(run(args[0], int(args[1])))
    elif what == "waits":
        print(*waits(int(args[0])))
    else:
        forget()


if __name__ == "__main__":
    main(sys.argv[2], sys.argv[3:])
