"""inference: predictions of a classifier and texts of a language model, once or as a session. Inputs: program.json."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / "lib"))

from stoker_job import frame


def main() -> None:
    frame.run(__file__, served="serve")


if __name__ == "__main__":
    main()
