"""Over how many GPUs vLLM spreads a model, and what is tried when its memory does not suffice."""

from collections.abc import Iterator

_STEPS = (0.0, 0.05, 0.10, 0.15)
_FLOOR = 0.3


def parallel_size(asked: int, visible: int, has_adapters: bool) -> int:
    """As asked, else all devices the job sees; never more than it sees, and one with adapters."""
    if has_adapters:
        return 1
    return max(1, min(asked if asked > 0 else visible, visible))


def tries(size: int, utilization: float) -> Iterator[tuple[int, float]]:
    """Less memory step by step, down to a floor; then the same on one device."""
    told: set[tuple[int, float]] = set()
    for count in (size, 1):
        for step in _STEPS:
            one = (count, round(max(min(_FLOOR, utilization), utilization - step), 4))
            if one not in told:
                told.add(one)
                yield one
