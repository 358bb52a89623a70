"""Labelled data from Hugging Face `datasets`: by name from the hub, or from a folder that `save_to_disk` wrote.

The package is optional (`pip install "bertlab[hub]"`) and imported only here. No code from a data set is ever run.
"""

from pathlib import Path

from bertlab.common.errors import DataError, MissingDependencyError, asked
from bertlab.data.tasks.formats import Record


def is_saved_dataset(path: str | Path) -> bool:
    """Whether a folder was written by `Dataset.save_to_disk` or `DatasetDict.save_to_disk`."""
    return any((Path(path) / name).is_file() for name in ("dataset_dict.json", "state.json"))


def load_hub_dataset(name: str, config: str | None = None, revision: str | None = None) -> dict:
    """Every split of a data set: {split: datasets.Dataset}. `name` is a name on the hub or a saved folder.

    Raises MissingDependencyError without the package, DataError if the data set is not available.
    """
    try:
        import datasets
    except ImportError:
        raise MissingDependencyError(
            f'reading {name!r} needs the package datasets: pip install "bertlab[hub]"; '
            f"or download the official files and give their folder as {asked('--data-dir', 'data_dir')}"
        ) from None
    try:
        if is_saved_dataset(name):
            loaded = datasets.load_from_disk(str(name))
        else:
            loaded = datasets.load_dataset(name, config, revision=revision)
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise DataError(
            f"cannot download the data set {name!r} from Hugging Face ({reason}); check the name and the network, or "
            f"download the official files and give their folder as {asked('--data-dir', 'data_dir')}"
        ) from error
    return {"train": loaded} if isinstance(loaded, datasets.Dataset) else dict(loaded)


def hub_records(
    dataset, name: str, split: str, column: str | None = None, labels: tuple[str, ...] = ()
) -> list[Record]:
    """The records of one split, each with its location: NAME (train) row 17. column, labels: see `with_names`."""
    records = [Record(f"{name} ({split}) row {index}", row) for index, row in enumerate(dataset)]
    return with_names(records, column, labels)


def with_names(records: list[Record], column: str | None, labels: tuple[str, ...]) -> list[Record]:
    """The records with names where a column of labels (or tags) has indices of these names; without labels the same.

    So an index is never mistaken for a name that is itself a number.
    """
    if not labels:
        return records
    return [
        Record(where, row | {column: _named(row[column], labels)} if column in row else row) for where, row in records
    ]


def _named(value, labels: tuple[str, ...]):
    if isinstance(value, list):
        return [_named(element, labels) for element in value]
    return labels[value] if isinstance(value, int) and 0 <= value < len(labels) else value


def hub_labels(dataset, column: str) -> tuple[str, ...]:
    """The class names that a data set declares for a column of labels or of tags; () if it declares none."""
    feature = dataset.features.get(column)
    feature = getattr(feature, "feature", feature)  # of a list: what is in it
    return tuple(name.strip() for name in getattr(feature, "names", None) or ())
