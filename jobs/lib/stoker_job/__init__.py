"""What the training and inference programs of Stoker share.

Nothing here imports torch before a program needs it: a wrong input is refused within milliseconds.
`emit` lies beside this folder and is found by importing this package.
"""

import sys
from pathlib import Path

_EMIT = str(Path(__file__).resolve().parents[2] / "emit")
if _EMIT not in sys.path:
    sys.path.append(_EMIT)
