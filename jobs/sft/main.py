"""sft: teaches a language model texts, all of its weights. Inputs: program.json."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from stoker_job import frame


def main() -> None:
    frame.run(__file__)


if __name__ == "__main__":
    main()
