"""Text generation as templates ask for it: the own questions and those of merged children, answered in the same batches."""

from pathlib import Path
from typing import Any

from batch_run import BatchRun
from children import children_of
from model_asked import model_asked
from open_engine import opened
from question import Question, question_of
from sampling import inference_section, sampling_of
from stoker_job.artifacts import outputs, write_json
from stoker_job.problems import sentence_of
from told import told

FILE = "responses.json"


def answered(spec: dict[str, Any], sha256: str | None) -> dict[str, Any]:
    """The documented result. All of it is in `responses.json`; the event has what an event has room for."""
    asked = model_asked(spec.get("model"), sha256, spec.get("checkpoint"), bool(spec.get("enforce_cpu")))
    inference = inference_section(spec.get("inference"))
    sampling = sampling_of(inference, "inference.")
    own, others = question_of(spec), children_of(spec)
    engine = opened(asked)
    run = BatchRun(engine, sampling, inference["batch_size"])
    run.ask(None, own)
    children = {task: _asked(run, task, question) for task, question in others.items()}
    run.answer()
    result = {
        "ok": True,
        "model": engine.name,
        "items": run.items(None),
        "usage": run.usage(),
        **({"children": {task: _child(run, task, question) for task, question in children.items()}} if children else {}),
        **_exported(own, run.items(None), outputs()),
        **({"shard": own.shard} if own.shard else {}),
        **engine.facts,
        "inference": sampling.facts(),
        "dataset": own.dataset,
        **engine.engine_facts(),
    }
    write_json(outputs() / FILE, result)
    return told(result, FILE)


def _asked(run: BatchRun, task: str, question: Question | str) -> Question | str:
    """A child whose prompts do not fit the model fails here, alone."""
    if isinstance(question, str):
        return question
    try:
        run.ask(task, question)
    except Exception as error:  # one child's fault, whatever it is, is no other's
        return sentence_of(error)
    return question


def _child(run: BatchRun, task: str, question: Question | str) -> dict[str, Any]:
    if isinstance(question, str):
        return {"ok": False, "error": question}
    items = run.items(task)
    more = _exported(question, items, outputs() / "children" / task)
    return {"ok": True, "items": items, "usage": run.usage(task), **more, **({"shard": question.shard} if question.shard else {})}


def _exported(question: Question, items: list[dict[str, Any]], folder: Path) -> dict[str, Any]:
    return {} if question.export is None else {"jsonl_export": question.export.write(items, folder)}
