"""Around the work of these programs: data first, then devices and ranks, then the libraries that take seconds to load."""

from collections.abc import Callable
from typing import Any

from .data import Learned, Read
from .libraries import prepare_libraries
from .wishes import Wishes


def in_ranks(wishes: Wishes, read: Read, train: Callable[[Learned], dict[str, Any]]) -> dict[str, Any]:
    """Calls `train` in as many ranks as the job's devices make."""
    data = read()
    prepare_libraries()
    from .devices import choose_devices
    from .launch import with_ranks

    with with_ranks(choose_devices(wishes)):
        return train(data)


def with_trainer(wishes: Wishes, read: Read, name: str, limit: Callable[[int], float], trainer_of: Callable[[Any], Any]) -> dict[str, Any]:
    """Trains with the Trainer that `trainer_of` makes and leaves `name`; `limit` is the loss of training gone astray, by the size of the vocabulary."""

    def train(data: Learned) -> dict[str, Any]:
        from .run import tune

        return tune(wishes, data, name, limit, trainer_of)

    return in_ranks(wishes, read, train)
