"""What a session keeps loaded: the last of its kind, until another is asked for."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Kept(Generic[T]):
    """Holds one, by its key; it is let go before another is loaded, for both might not fit into memory."""

    def __init__(self) -> None:
        self._held: dict[Hashable, T] = {}

    def get(self, key: Hashable, load: Callable[[], T]) -> T:
        if key not in self._held:
            self._held.clear()
            self._held[key] = load()
        return self._held[key]
