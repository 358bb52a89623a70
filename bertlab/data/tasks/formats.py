"""Reading labelled files: from bytes on disk to records, each with its location.

A *record* is a dictionary of columns (`{"sentence": "It works .", "label": "1"}`), independent of the file's format.
`bertlab.data.tasks.formats_records` turns records into rows. All readers here have these properties:

- Text is UTF-8. A byte order mark at the start of a line is dropped: files that were joined have several. A line ends
  with a line feed, with or without a carriage return before it, and with nothing else: U+2028 or a form feed inside a
  sentence is part of the sentence.
- A defect is reported with the file and the line, and by default stops the reading. `Problems("skip")` counts it and
  continues with the next record.
"""

import csv
import json
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from bertlab.common.errors import DataError, MissingDependencyError
from bertlab.data.documents_lines import MAX_BYTES_IN_LINE, Problems, RecordError, check_surrogates, json_of

TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}  # between the columns of a CSV file
_PARQUET_BATCH_SIZE = 4096  # rows


class Record(NamedTuple):
    """One record of a file. where: "FILE line 12", for messages. columns: name → value."""

    where: str
    columns: dict


def open_binary(path: str | Path):
    """Opens a file for reading bytes. Raises DataError if there is none or it cannot be read."""
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def read_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Yields (line number from 1, line without its end) of a UTF-8 file.

    Raises DataError at the first line that is not UTF-8: the rest cannot be trusted either, so it is never skipped.
    """
    with open_binary(path) as file:
        for number, raw in enumerate(file, start=1):
            try:
                line = raw.decode("utf-8-sig")
            except UnicodeDecodeError as error:
                found = "UTF-16" if number == 1 and raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "LATIN1"
                raise DataError(
                    f"{path} line {number}: byte {error.start + 1} is not UTF-8; convert the file, for example with "
                    f"`iconv -f {found} -t UTF-8`"
                ) from None
            yield number, line.removesuffix("\n").removesuffix("\r")


def read_blocks(path: str | Path) -> Iterator[list[tuple[int, str]]]:
    """Yields the lines between two blank lines, each with its number, as `read_lines` does."""
    for is_blank, lines in groupby(read_lines(path), key=lambda numbered: not numbered[1].strip()):
        if not is_blank:
            yield list(lines)


def read_table(path: str | Path, problems: Problems, header: tuple[str, ...] | None = None) -> Iterator[Record]:
    """Yields the records of a table file; its suffix determines the kind.

    .tsv: tabs between columns, and a quotation mark is a character like any other (as in GLUE: MRPC alone has hundreds
    of unbalanced ones). .csv: RFC 4180, fields may be quoted and run over several lines; between them commas or, if the
    header has no comma, another of `SEPARATORS`. .jsonl: an object on each line. .json: an array of objects. .parquet:
    needs the package pyarrow. `header` names the columns of a .tsv that has no header line. Blank lines are ignored.
    """
    suffix = Path(path).suffix.lower()
    if suffix in (".tsv", ".txt"):
        fields = ((number, line.split("\t")) for number, line in read_lines(path) if line)
        return _with_header(path, fields, problems, header)
    if suffix == ".csv":
        separator = _separator_of(path)
        if separator != ",":
            problems.notes.append(f"{path}: the columns are separated by {SEPARATORS[separator]}")
        return _with_header(path, _csv_fields(path, separator), problems, header, SEPARATORS[separator])
    if suffix in (".jsonl", ".json"):
        return _json_records(path, suffix, problems)
    if suffix == ".parquet":
        return _parquet_records(path)
    raise DataError(f"{path}: unknown suffix {suffix!r}; expected {', '.join(TABLE_SUFFIXES)}")


def _separator_of(path) -> str:
    """The separator of a CSV file's header: the first of `SEPARATORS` at which it splits."""
    header = next((line for _, line in read_lines(path) if line.strip()), "")
    for separator in SEPARATORS:
        try:
            if len(next(csv.reader([header], delimiter=separator), ())) > 1:
                return separator
        except csv.Error:
            break
    return ","


def _csv_fields(path, separator: str) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(max(csv.field_size_limit(), MAX_BYTES_IN_LINE))  # Python's own, 131,072, is a long article
    reader = csv.reader((line + "\n" for _, line in read_lines(path)), delimiter=separator, strict=True)
    first_line = 1
    try:
        for fields in reader:
            if fields:
                yield first_line, fields
            first_line = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{path} line {first_line}: not valid CSV ({error})") from None


def _with_header(
    path, fields: Iterator[tuple[int, list[str]]], problems: Problems, header, separators: str = "tabs"
) -> Iterator[Record]:
    if header is None:
        header = next(fields, (0, None))[1]
    if header is None:
        raise DataError(f"{path}: the file is empty; expected a line with the names of the columns")
    if separators == "tabs" and len(header) == 1 and (other := next((s for s in ",;" if s in header[0]), None)):
        raise DataError(
            f"{path} line 1: expected tabs between the columns, got {SEPARATORS[other]}; rename it to "
            f"{Path(path).with_suffix('.csv').name}"
        )
    if len(set(header)) != len(header):
        raise DataError(f"{path} line 1: two columns have the same name: {', '.join(header)}")
    for number, values in fields:
        where = f"{path} line {number}"
        if len(values) != len(header):
            found = f"{len(values)} columns separated by {separators}"
            problems.add(f"{where}: {found}, expected {len(header)} ({', '.join(header)})")
        else:
            yield Record(where, dict(zip(header, values)))


def _json_records(path, suffix: str, problems: Problems) -> Iterator[Record]:
    if suffix == ".jsonl":
        found = ((f"line {number}", line) for number, line in read_lines(path) if line.strip())
        parse = json_of
    else:
        records = read_json(path)
        if not isinstance(records, list):
            kind = type(records).__name__
            raise DataError(f"{path}: expected a JSON array of objects (or SQuAD's format), found {kind}")
        found = ((f"record {index}", columns) for index, columns in enumerate(records))
        parse = check_surrogates
    for place, content in found:
        with problems.at(f"{path} {place}"):
            yield Record(f"{path} {place}", json_object(content, parse))


def json_object(content, parse: Callable = check_surrogates) -> dict:
    """The object that `parse` returns. Raises RecordError where it raises ValueError or returns another JSON value."""
    try:
        value = parse(content)
    except ValueError as error:
        raise RecordError(f"not valid JSON ({error})") from None
    if not isinstance(value, dict):
        raise RecordError(f"expected a JSON object, found {type(value).__name__}")
    return value


def _parquet_records(path) -> Iterator[Record]:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError:
        raise MissingDependencyError(
            f'{path}: a Parquet file needs the package pyarrow: pip install "bertlab[parquet]"; or save it as .jsonl'
        ) from None
    try:
        with parquet.ParquetFile(path) as file:
            rows = (row for batch in file.iter_batches(_PARQUET_BATCH_SIZE) for row in batch.to_pylist())
            for number, row in enumerate(rows, 1):
                yield Record(f"{path} row {number}", row)
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except (ArrowException, OSError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise DataError(f"{path}: not a complete Parquet file ({reason}); save it again") from None


def read_json(path: str | Path):
    """The content of a JSON file. Raises DataError, with line and column where the JSON is malformed."""
    with open_binary(path) as file:
        raw = file.read()
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"{path} line {line}: not UTF-8 at byte {error.start}; JSON is UTF-8") from None
    except json.JSONDecodeError as error:
        lines = "; if each line is a JSON object, name the file .jsonl" if error.msg == "Extra data" else ""
        where = f"{path} line {error.lineno} column {error.colno}"
        raise DataError(f"{where}: not valid JSON ({error.msg}){lines}") from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, 100,000 brackets
        raise DataError(f"{path}: not valid JSON ({error})") from None
