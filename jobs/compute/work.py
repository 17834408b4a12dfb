"""Exactly the iterations that were asked for, counted as they are done."""

import time
from collections.abc import Callable
from typing import Any

import emit
from stoker_job import stop
from stoker_job.inputs import Inputs
from workloads import WORKLOADS

_TOLD_SECONDS = 0.25


def work(inputs: Inputs) -> dict[str, Any]:
    kind = inputs["kind"]
    load = WORKLOADS[kind](inputs["size"], inputs["seed"])
    asked = inputs["iterations"]
    start = time.perf_counter()
    done = _iterate(load.run, asked, load.piece)
    result = load.result()
    seconds = time.perf_counter() - start
    return {
        "device": load.device,
        "engine": load.engine,
        "dataset": None,
        "computationData": {
            "kind": kind,
            "iterations": done,
            "seconds": seconds,
            "iterationsPerSecond": done / seconds,
            "result": result,
        },
    }


def _iterate(run: Callable[[int], None], asked: int, piece: int) -> int:
    """In pieces small enough to tell how far it is and to end when asked to."""
    done, told = 0, 0.0
    with stop.deferred():
        while done < asked:
            count = min(piece, asked - done)
            run(count)
            done += count
            if stop.is_asked():
                emit.log(f"asked to stop after {done} of {asked} iterations")
                stop.leave()
            if time.monotonic() - told > _TOLD_SECONDS or done == asked:
                told = time.monotonic()
                emit.progress(100 * done / asked, f"iteration {done}/{asked}")
    return done
