"""The same seed gives the same result: as far as the libraries can."""

import os

import torch


def be_repeatable() -> None:
    """Exact on a processor with the same number of threads; on a GPU the few calls without such a form say so on stderr."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False
