"""Predictions with their confidence and the time each really took."""

import time
from typing import Any

import emit
import torch
from items import items_of
from kept import kept
from stoker_job.artifacts import outputs, write_json
from stoker_job.inputs import Inputs
from stoker_job.models import Classifier, open_model
from stoker_job.problems import Failed
from stoker_job.ranks import joined

_TOLD = 1000


def predicted(inputs: Inputs) -> dict[str, Any]:
    """The classes of `input`, each with confidence and latency."""
    with joined() as ranks:
        model = _model(inputs["model"], inputs["model_sha256"], ranks.device)
        items = items_of(inputs["input"], model)
        answers = []
        for number, item in enumerate(items, 1):
            answers.append(_prediction(model, item, ranks.device, inputs["top"]))
            emit.progress(5 + 90 * number / len(items), f"item {number}/{len(items)}")
        if ranks.is_first:
            write_json(outputs() / "predictions.json", answers)
    return {
        "predictions": answers[:_TOLD],
        "predictionCount": len(answers),
        "computationData": answers[0],
        "dataset": None,
        "model": {"name": inputs["model"], **model.facts()},
        **ranks.facts(),
    }


def _model(name: str | None, sha256: str | None, device: torch.device) -> Classifier:
    return kept(["classifier", name, sha256], name or "the model of the job", lambda: _opened(name, sha256, device))


def _opened(name: str | None, sha256: str | None, device: torch.device) -> Classifier:
    model = open_model("model", name, sha256)
    model.module.to(device).eval()
    return model


def _prediction(model: Classifier, item: Any, device: torch.device, top: int) -> dict[str, Any]:
    """The time covers encoding, the way to the device and back, and the network."""
    start = time.perf_counter()
    with torch.inference_mode():
        given = [one.to(device) for one in model.encode(item)]
        shares = torch.softmax(model.module(*given)[0].float(), 0).cpu()
    best = torch.topk(shares, min(top, len(model.classes)))
    latency_ms = 1000 * (time.perf_counter() - start)
    if not torch.isfinite(shares).all():
        raise Failed("the model answers with NaN: its weights are broken, train it again with a lower learning_rate")
    named = [{"prediction": model.classes[number], "confidence": share} for share, number in zip(best.values.tolist(), best.indices.tolist())]
    return {**named[0], "latency_ms": latency_ms, **({"top": named} if top > 1 else {})}
