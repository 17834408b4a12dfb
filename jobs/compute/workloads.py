"""The kinds of work that can be declared. Each is real, and its result depends on every iteration."""

import hashlib
from typing import Any, Protocol


class Workload(Protocol):
    """Runs so many iterations at a time; `piece` takes well below a second."""

    piece: int
    device: str
    engine: str

    def run(self, count: int) -> None: ...

    def result(self) -> Any: ...


class Arithmetic:
    """A linear congruence, step by step in plain Python."""

    piece, device, engine = 50_000, "cpu", "builtin"

    def __init__(self, _size: int, seed: int) -> None:
        self._value = seed

    def run(self, count: int) -> None:
        value = self._value
        for _ in range(count):
            value = (value * 1_103_515_245 + 12_345) % 2_147_483_648
        self._value = value

    def result(self) -> int:
        return self._value


class Hash:
    """SHA-256 of its own digest and `size` bytes, over and over."""

    piece, device, engine = 2_000, "cpu", "builtin"

    def __init__(self, size: int, seed: int) -> None:
        self._digest, self._filling = str(seed).encode(), bytes(size)

    def run(self, count: int) -> None:
        for _ in range(count):
            self._digest = hashlib.sha256(self._digest + self._filling).digest()

    def result(self) -> str:
        return self._digest.hex()


class Matmul:
    """A matrix of `size` rows times itself, kept in bounds, with PyTorch on the job's GPU if it has one."""

    piece, engine = 1, "torch"

    def __init__(self, size: int, seed: int) -> None:
        import torch

        self._torch = torch
        self.device = "cuda:0" if torch.cuda.is_available() else "cpu"
        made = torch.randn((size, size), generator=torch.Generator().manual_seed(seed))
        self._factor = (made / size**0.5).to(self.device)
        self._value = self._factor

    def run(self, count: int) -> None:
        for _ in range(count):
            product = self._value @ self._factor
            self._value = product / product.norm() * len(product) ** 0.5
        if self.device != "cpu":
            self._torch.cuda.synchronize()

    def result(self) -> float:
        return float(self._value.double().abs().sum())


WORKLOADS: dict[str, type[Workload]] = {"arithmetic": Arithmetic, "hash": Hash, "matmul": Matmul}
