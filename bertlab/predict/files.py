"""From a file to rows: an input on each line or, by the file's suffix, a table or CoNLL as `load_task` reads them.

Labels, tags and answers in a file are not read.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from bertlab.common.errors import DataError, asked
from bertlab.data.documents_lines import Problems
from bertlab.data.tasks.formats import CONLL_SUFFIXES, TABLE_SUFFIXES, read_conll, read_table
from bertlab.data.tasks.formats_records import ANSWER_ROLES, ROLES, guess_shape, unlabelled_rows, with_usual_columns
from bertlab.data.tasks.rows import Row
from bertlab.predict.inputs import input_of_line, row_of
from bertlab.training.finetuning.task_kinds import EITHER


def rows_of_file(file: BinaryIO, shape: str, columns: dict | None = None) -> Iterator[Row]:
    """Yields the rows of an open file; the first one that cannot be read raises DataError, with its line.

    shape: of the model, or `EITHER`: the columns of a table then tell one text from two, and a line with a tab is
    refused.   columns: field → column, for tables.
    """
    path = Path(name_of(file))
    suffix = path.suffix.lower()
    if suffix in TABLE_SUFFIXES:
        return _rows_of_table(path, shape, dict(columns or {}))
    if columns:
        option = asked("--column", "columns")
        raise DataError(f"{path}: expected a table ({', '.join(TABLE_SUFFIXES)}) for {option}; leave it out")
    if suffix in CONLL_SUFFIXES and suffix != ".txt":
        return _rows_of_conll(path, shape)
    return _rows_of_lines(file, shape)


def name_of(file: BinaryIO) -> str:
    """The name of an open file; a stream that has none, or a number, is standard input."""
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "<stdin>"


def _rows_of_lines(file: BinaryIO, shape: str) -> Iterator[Row]:
    for number, raw in enumerate(file, start=1):
        location = f"{name_of(file)} line {number}"
        try:
            line = raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise DataError(f"{location}: byte {error.start + 1} is not UTF-8; convert the file first") from None
        if shape == EITHER and "\t" in line:
            chosen = asked("--shape pair or --shape sentence", "shape='pair' or shape='sentence'")
            raise DataError(
                f"{location}: has a tab, and the model's folder does not say whether it reads one text or two; give "
                f"{chosen}"
            )
        own = "sentence" if shape == EITHER else shape
        yield row_of(own, input_of_line(own, line, location), number, location)


def _rows_of_table(path: Path, shape: str, columns: dict) -> Iterator[Row]:
    task_kinds = Problems("skip")  # each problem is raised below, without advice to skip it: rows and output correspond
    records = iter(read_table(path, task_kinds))
    first = next(records, None)
    if first is not None:
        names = with_usual_columns(first.columns, columns, None if shape == EITHER else shape)
        own = guess_shape(first.columns, names) if shape == EITHER else shape
        _check_fields(path, own, shape, first.columns, names)
        rows = (row for _, row in unlabelled_rows(chain([first], records), own, names, task_kinds))
        yield from _until_a_problem(rows, task_kinds)
    _raise_first(task_kinds)


def _check_fields(path: Path, own: str, shape: str, present: Iterable[str], names: dict) -> None:
    """Raises DataError for a table that lacks a column which the model reads.

    own: the task type of the table.   shape: of the model.
    """
    if own not in shape:  # "pair" is in "sentence or pair"
        raise DataError(f"{path}: has columns for the shape {own}, and the model reads the shape {shape}")
    fields = [field for field in ROLES[own] if field not in (*ANSWER_ROLES, "id")]
    lacking = [field for field in fields if not _columns_of(names.get(field, field)) <= set(present)]
    if lacking:
        example = asked(f"--column {lacking[0]}=NAME", f"columns={{'{lacking[0]}': 'NAME'}}")
        raise DataError(
            f"{path}: expected a column for {' and '.join(fields)}, got the columns {', '.join(map(str, present))}; "
            f"name them as for `bertlab finetune` ({example}), or, if each line is an input, rename the file to .txt"
        )


def _columns_of(column: str | tuple[str, ...]) -> set[str]:
    """The columns of the file that a field is read from."""
    return {one.partition(".")[0] for one in ((column,) if isinstance(column, str) else column)}


def _rows_of_conll(path: Path, shape: str) -> Iterator[Row]:
    if shape != "tagging":
        raise DataError(f"{path}: has a word on each line, for a tagger; the model reads the shape {shape}")
    task_kinds = Problems("skip")
    records = read_conll(path, task_kinds, {"tag_column": None})
    yield from _until_a_problem((row for _, row in unlabelled_rows(records, shape, {}, task_kinds)), task_kinds)
    _raise_first(task_kinds)


def _until_a_problem(rows: Iterable[Row], task_kinds: Problems) -> Iterator[Row]:
    for row in rows:
        _raise_first(task_kinds)
        yield row


def _raise_first(task_kinds: Problems) -> None:
    if task_kinds.messages:
        raise DataError(task_kinds.messages[0])
