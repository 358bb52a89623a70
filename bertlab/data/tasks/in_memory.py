"""Labelled rows that are in memory: lists of dicts, data frames of pandas or Polars, `datasets` of Hugging Face.

They become the same records as files. `datasets` is optional and imported only to load a data set by name, from the
hub or from a folder that `save_to_disk` wrote. No code from a data set is ever run.
"""

import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

from bertlab.common.errors import DataError, MissingDependencyError, asked
from bertlab.data.documents_lines import Problems
from bertlab.data.tasks.formats import Record
from bertlab.data.tasks.formats_labels import listed
from bertlab.data.tasks.formats_records import ROLES

SPLIT_OF = {"train": "train", "test": "test"} | dict.fromkeys(("validation", "dev", "valid", "val"), "validation")


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


def splits_in_memory(data) -> dict[str, object]:
    """The tables of the splits: of a dict (such as a `DatasetDict`) by its keys, of one table {"train": table}.

    Warns of other keys. Raises DataError for anything else, a dict without a known split, and two tables of one split.
    """
    if isinstance(data, bytes) or not isinstance(data, Iterable):
        raise DataError(
            "expected a list of dicts, a data frame, a data set of Hugging Face `datasets` or the path of a file; got "
            f"{type(data).__name__}"
        )
    if not isinstance(data, Mapping):
        return {"train": data}
    keys, others = {}, []  # split → key
    for key in data:
        split = SPLIT_OF.get(str(key).lower())
        if split in keys:
            raise DataError(f"{str(keys[split])!r} and {str(key)!r} are both the {split} split; give one table")
        if split is None:
            others.append(repr(str(key)))
        else:
            keys[split] = key
    if not keys:
        raise DataError(
            f"expected rows, or a dict with some of the splits train, validation and test; got the keys "
            f"{', '.join(map(str, data))}"
        )
    if others:
        warnings.warn(f"left out {', '.join(others)}; expected train, validation or test", stacklevel=3)
    return {split: data[key] for split, key in keys.items()}


def declared_in(
    table, columns: dict, labels: tuple[str, ...] | None, shape: str | None
) -> tuple[str | None, tuple[str, ...]]:
    """The column of labels or tags for which a data set of `datasets` declares names, and these names; else None, ().

    columns: field → column, where they differ. labels: the caller's names. Where these are others than the declared
    ones, but as many, the numbers in the column are indices of the caller's. Raises DataError where they cannot be:
    there are more or fewer, or one of the names has another index. shape: the task type, if it is known.
    """
    for role in ("label", "tags"):
        if role not in ROLES.get(shape, ("label", "tags")):
            continue
        column = columns.get(role, role)
        feature = (getattr(table, "features", None) or {}).get(column)
        feature = getattr(feature, "feature", feature)  # of a list: what is in it
        names = tuple(name.strip() for name in getattr(feature, "names", None) or ())
        if names and (labels is None or set(names) <= set(labels)):
            return column, names
        moved = any(name in names and names.index(name) != index for index, name in enumerate(labels or ()))
        if names and labels and (moved or len(names) != len(labels)):
            raise DataError(
                f"column {column!r} declares the labels {listed(names)}; expected some of {listed(labels)}, or as many "
                "other names in the same order; rename them"
            )
    return None, ()


def records_in_memory(
    table, name: str, split: str, problems: Problems, column: str | None = None, labels: tuple[str, ...] = ()
) -> list[Record]:
    """The records of one split, each with its location: NAME (train) row 17, counted from 0 as `datasets` does.

    column, labels: numbers in this column are indices of these names (see `declared_in`); so an index is never mistaken
    for a name that is itself a number. Raises DataError for a row that is not a dict, as `problems` says.
    """
    if hasattr(table, "to_dicts"):  # Polars
        table = table.to_dicts()
    elif hasattr(table, "iterrows"):  # pandas; its several marks of an empty cell become None
        table = table.astype(object).where(table.notna(), None).to_dict("records")
    records = []
    for index, row in enumerate(table):
        where = f"{name} ({split}) row {index}"
        if isinstance(row, Mapping):
            columns = {key: _plain(value) for key, value in row.items()}
            if column in columns:
                columns[column] = _named(columns[column], labels)
            records.append(Record(where, columns))
        else:
            problems.add(f"{where}: expected a dict of columns, got {type(row).__name__}")
    return records


def _named(value, labels: tuple[str, ...]):
    if isinstance(value, list):
        return [_named(element, labels) for element in value]
    return labels[value] if isinstance(value, int) and 0 <= value < len(labels) else value


def _plain(value):
    """Numbers and arrays of NumPy, PyTorch or TensorFlow as Python's; anything else as it is."""
    if hasattr(value, "numpy"):
        value = value.numpy()
    return value.tolist() if hasattr(value, "tolist") else value
