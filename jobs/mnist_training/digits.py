"""Where the digits come from: what the job brings, what the machine has, then the original files by their checksums."""

import os
from pathlib import Path

import emit
from stoker_job.data import Dataset, open_dataset
from stoker_job.data.idx import is_idx
from stoker_job.data.open import read_dataset
from stoker_job.fetch import fetch
from stoker_job.locate import cache
from stoker_job.problems import Failed

_SOURCE = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_FILES = {
    "train-images-idx3-ubyte.gz": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte.gz": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3-ubyte.gz": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte.gz": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}
_FOLDERS = (".", "mnist", "data", "dataset", "data/mnist")


def open_digits(dataset: str | None, sha256: str | None, seed: int) -> Dataset:
    """Without a name: IDX files in the job's folder, in DATA_PATH, or fetched. Never digits of another kind."""
    if dataset is not None:
        return _of_images(open_dataset(dataset, sha256, seed))
    roots = [Path.cwd(), *[Path(one) for one in os.environ.get("DATA_PATH", "").split(os.pathsep) if one]]
    here = next((root / folder for root in roots for folder in _FOLDERS if is_idx(root / folder)), None)
    return read_dataset("mnist", _fetched() if here is None else here, seed)


def _fetched() -> Path:
    folder = cache() / "mnist"
    emit.log(f"no IDX files in the job's folder or in DATA_PATH: fetching the original ones from {_SOURCE}")
    for name, sha256 in _FILES.items():
        if not (folder / name).is_file():
            fetch("the original MNIST (no input dataset was given)", _SOURCE + name, folder / name, sha256)
    return folder


def _of_images(data: Dataset) -> Dataset:
    if data.kind != "image":
        raise Failed(f"dataset {data.name} has texts, mnist_training needs images; the type training takes both")
    return data
