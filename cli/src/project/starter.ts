/** The files of a new project: it runs as it is, without any package. */
export function starterFiles(name: string, gpus: number): Readonly<Record<string, string>> {
  return { 'trainforge.yaml': config(name, gpus), 'train.py': SCRIPT, 'requirements.txt': REQUIREMENTS }
}

function config(name: string, gpus: number): string {
  return `project:
  name: ${JSON.stringify(name)}
  description: ""
  version: "0.1.0"

training:
  script: train.py
  requirements: requirements.txt   # installed once, then kept by the worker

resources:
  gpu: ${gpus}                           # more than 1: one process for each, with RANK, LOCAL_RANK, WORLD_SIZE
  cpu: 2
  memory: 4Gi

environment:
  python_version: "3.9"            # taken where a worker has it
  base_image: pytorch/pytorch:latest   # used where a worker runs containers; without this line never
  env: {}

hyperparameters:                   # in the program as HP_EPOCHS and HP_LEARNING_RATE
  epochs: 20
  learning_rate: 0.1

artifacts:
  - path: outputs/
`
}

const REQUIREMENTS = '# One package a line, as pip reads them.\n'

const SCRIPT = `"""Fits a line to points: replace it with your training."""

import json
import os
from pathlib import Path

EPOCHS = int(os.environ.get("HP_EPOCHS", "20"))
RATE = float(os.environ.get("HP_LEARNING_RATE", "0.1"))
POINTS = [(x / 10, 3 * x / 10 + 2) for x in range(-10, 11)]


def main() -> None:
    slope, offset = 0.0, 0.0
    for epoch in range(1, EPOCHS + 1):
        errors = [(x, slope * x + offset - y) for x, y in POINTS]
        slope -= RATE * 2 * sum(e * x for x, e in errors) / len(errors)
        offset -= RATE * 2 * sum(e for _, e in errors) / len(errors)
        loss = sum(e * e for _, e in errors) / len(errors)
        print(json.dumps({"event": "progress", "percent": 100 * epoch / EPOCHS, "metrics": {"loss": loss}}), flush=True)
        print(f"epoch {epoch}: loss {loss:.4f}", flush=True)
    Path("outputs").mkdir(exist_ok=True)
    Path("outputs/model.json").write_text(json.dumps({"slope": slope, "offset": offset}))


if __name__ == "__main__":
    main()
`
