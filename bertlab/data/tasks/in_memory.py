"""Labelled rows that are in memory: lists of dicts, data frames of pandas or Polars, `datasets` of Hugging Face.

They become the same records as files, so that rows, labels and error messages are the same. None of these packages is
imported: an object is known by its methods.
"""

from collections.abc import Iterable, Iterator, Mapping

from bertlab.data.tasks.formats import Problems, Record
from bertlab.data.tasks.formats_hub import hub_labels, with_names
from bertlab.errors import DataError

_SPLITS = {"train": "train", "validation": "validation", "dev": "validation", "valid": "validation", "test": "test"}


def splits_in_memory(data) -> dict[str, object]:
    """The tables of the splits: of a dict (such as a `DatasetDict`) by its keys, of one table {"train": table}.

    Raises DataError for anything else, and for a dict without a known split.
    """
    if isinstance(data, Mapping):
        found = {_SPLITS[name]: table for name, table in data.items() if name in _SPLITS}
        if not found:
            raise DataError(
                f"expected rows, or a dict with some of the splits train, validation and test; got the keys "
                f"{', '.join(map(str, data))}"
            )
        return found
    if isinstance(data, bytes) or not isinstance(data, Iterable):
        raise DataError(
            "expected a list of dicts, a data frame, a data set of Hugging Face `datasets` or the path of a file; got "
            f"{type(data).__name__}"
        )
    return {"train": data}


def declared_in(table, columns: dict, labels: tuple[str, ...] | None) -> tuple[str | None, tuple[str, ...]]:
    """The column of labels or tags for which a data set of `datasets` declares names, and these names; else None, ().

    columns: field → column, where they differ. labels: the caller's names; where those are others than the declared
    ones, the numbers in the column are indices of the caller's.
    """
    for role in ("label", "tags"):
        column = columns.get(role, role)
        names = hub_labels(table, column) if getattr(table, "features", None) else ()
        if names and (labels is None or set(labels) == set(names)):
            return column, names
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
