"""Labelled rows from a Parquet file, which needs the optional package pyarrow (`pip install "bertlab[parquet]"`)."""

from collections.abc import Iterator
from pathlib import Path

from bertlab.common.errors import DataError, MissingDependencyError
from bertlab.data.tasks.formats import Record

_ROWS_BATCH_SIZE = 4096


def parquet_records(path: str | Path) -> Iterator[Record]:
    """Yields the records of a file, each with its location: FILE row 17.

    Raises MissingDependencyError without pyarrow, DataError for a file that cannot be read.
    """
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise MissingDependencyError(
            f'{path}: a Parquet file needs the package pyarrow: pip install "bertlab[parquet]"; or save it as .jsonl'
        ) from None
    try:
        with parquet.ParquetFile(path) as file:
            rows = (row for batch in file.iter_batches(_ROWS_BATCH_SIZE) for row in batch.to_pylist())
            for number, row in enumerate(rows, 1):
                yield Record(f"{path} row {number}", row)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except (ArrowException, OSError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DataError(f"{path}: not a complete Parquet file ({reason}); save it again") from None
