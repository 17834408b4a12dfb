"""A dataset by its name: a jsonl, csv, parquet or text file, a folder, an archive, a URL, or a name of the model hub."""

from collections.abc import Callable
from typing import Any

from .inputs import Inputs
from .locate import cache, locate
from .model_source import is_hub_id, reach_hub
from .problems import Failed, Refused, first_line

_BUILDERS = {".jsonl": "json", ".ndjson": "json", ".json": "json", ".csv": "csv", ".parquet": "parquet", ".txt": "text"}


def open_dataset(path: str, named: str, config: str | None, asked: Inputs) -> Any:
    """One split of it; `asked` is the section `data` with its split, revision and sha256. `path` is for the sentences."""
    import datasets

    datasets.disable_progress_bars()
    how = {"split": asked["split"], "cache_dir": str(cache() / "datasets")}
    if is_hub_id(named, *_BUILDERS):
        if asked["sha256"]:
            raise Refused(f"data.sha256 belongs to a file, and {named} is a name of the model hub: there data.revision says which one is meant")
        reach_hub(path, named, kind="dataset")
        return _loaded(named, lambda: datasets.load_dataset(named, config, revision=asked["revision"], **how))
    if asked["revision"]:
        raise Refused(f"data.revision is {asked['revision']}, which only the model hub has, and {named} is a file or folder")
    place = locate(path, named, asked["sha256"])
    is_saved = (place / "state.json").is_file() or (place / "dataset_dict.json").is_file()
    if config and (place.is_file() or is_saved):
        raise Refused(f"{named} has no configurations to choose from, and the job names {config}")
    if place.is_file():
        builder = _BUILDERS.get(place.suffix.lower())
        if builder is None:
            raise Failed(f"dataset {named} is a {place.suffix or 'nameless'} file, known are {', '.join(_BUILDERS)}")
        return _loaded(named, lambda: datasets.load_dataset(builder, data_files=str(place), **how))
    if is_saved:
        return _loaded(named, lambda: _split(datasets.load_from_disk(str(place)), named, asked["split"]))
    return _loaded(named, lambda: datasets.load_dataset(str(place), config, **how))


def _loaded(named: str, load: Callable[[], Any]) -> Any:
    """The library puts the reason of an unreadable file into the cause."""
    try:
        return load()
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        raise Failed(f"dataset {named} cannot be read: {first_line(error.__cause__ or error)}") from error
    except Exception as error:
        if type(error).__module__.startswith("datasets"):
            raise Failed(f"dataset {named} cannot be read: {first_line(error.__cause__ or error)}") from error
        raise


def _split(saved: Any, named: str, split: str) -> Any:
    if not hasattr(saved, "keys"):
        return saved
    if split not in saved:
        raise Failed(f"dataset {named} has the splits {', '.join(saved)}, the job wants {split}")
    return saved[split]
