"""Labelled rows that are in memory: lists of dicts, data frames of pandas or Polars, `datasets` of Hugging Face.

They become the same records as files, so that rows, labels and error messages are the same. None of these packages is
imported: an object is known by its methods.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping

from bertlab.common.errors import DataError
from bertlab.data.tasks.formats import Problems, Record
from bertlab.data.tasks.formats_hub import hub_labels, with_names
from bertlab.data.tasks.formats_labels import listed
from bertlab.data.tasks.formats_records import ROLES

_SPLITS = {"train": "train", "test": "test"} | dict.fromkeys(("validation", "dev", "valid", "val"), "validation")


def splits_in_memory(data) -> dict[str, object]:
    """The tables of the splits: of a dict (such as a `DatasetDict`) by its keys, of one table {"train": table}.

    Warns of other keys. Raises DataError for anything else, a dict without a known split, and two tables of one split.
    """
    if isinstance(data, Mapping):
        split_of = {key: _SPLITS.get(str(key).lower()) for key in data}
        found = {}
        for key, split in split_of.items():
            if split in found:
                both = " and ".join(repr(str(one)) for one in data if split_of[one] == split)
                raise DataError(f"{both} are both the {split} split; give one table")
            if split is not None:
                found[split] = data[key]
        if not found:
            raise DataError(
                f"expected rows, or a dict with some of the splits train, validation and test; got the keys "
                f"{', '.join(map(str, data))}"
            )
        if others := [repr(str(key)) for key, split in split_of.items() if split is None]:
            warnings.warn(f"left out {', '.join(others)}; expected train, validation or test", stacklevel=4)
        return found
    if isinstance(data, bytes) or not isinstance(data, Iterable):
        raise DataError(
            "expected a list of dicts, a data frame, a data set of Hugging Face `datasets` or the path of a file; got "
            f"{type(data).__name__}"
        )
    return {"train": data}


def declared_in(
    table, columns: dict, labels: tuple[str, ...] | None, shape: str | None = None
) -> tuple[str | None, tuple[str, ...]]:
    """The column of labels or tags for which a data set of `datasets` declares names, and these names; else None, ().

    columns: field → column, where they differ. labels: the caller's names. Where these are others than the declared
    ones, but as many, the numbers in the column are indices of the caller's. Raises DataError where they cannot be:
    there are more or fewer, or one of the names has another index. shape: the task type, if it is known.
    """
    for role in ("label", "tags") if shape is None else sorted({"label", "tags"}.intersection(ROLES.get(shape, ()))):
        column = columns.get(role, role)
        names = hub_labels(table, column) if getattr(table, "features", None) else ()
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
    table, name: str, split: str, problems: Problems, column: str | None, labels: tuple[str, ...]
) -> list[Record]:
    """The records of one split, each with its location: NAME (train) row 17, counted from 0 as `datasets` does.

    column, labels: numbers in this column are indices of these names (see `declared_in`). Raises DataError for a row
    that is not a dict, as `problems` says.
    """
    records = []
    for index, row in enumerate(_rows(table)):
        where = f"{name} ({split}) row {index}"
        if isinstance(row, Mapping):
            records.append(Record(where, {key: _plain(value) for key, value in row.items()}))
        else:
            problems.add(f"{where}: expected a dict of columns, got {type(row).__name__}")
    return with_names(records, column, labels)


def _rows(table) -> Iterator:
    if hasattr(table, "to_dicts"):  # Polars
        return iter(table.to_dicts())
    if hasattr(table, "iterrows"):  # pandas; its several marks of an empty cell become None
        return iter(table.astype(object).where(table.notna(), None).to_dict("records"))
    return iter(table)


def _plain(value):
    """Numbers and arrays of NumPy, PyTorch or TensorFlow as Python's; anything else as it is."""
    if hasattr(value, "numpy"):
        value = value.numpy()
    return value.tolist() if hasattr(value, "tolist") else value
