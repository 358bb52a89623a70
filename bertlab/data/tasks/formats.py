"""Reading labelled files: from bytes on disk to records, each with its location.

A *record* is a dictionary of columns (`{"sentence": "It works .", "label": "1"}`), independent of the file's format;
`formats_records` turns records into rows. All readers here have these properties:

- Text is UTF-8. A byte order mark at the start of a line is dropped: files that were joined have several. A line ends
  with a line feed, with or without a carriage return before it, and with nothing else: U+2028 or a form feed inside a
  sentence is part of the sentence.
- A defect is reported with the file and the line, and by default stops the reading. `Problems("skip")` counts it and
  continues with the next record.
"""

import csv
import json
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import NamedTuple

from bertlab.common.errors import DataError, MissingDependencyError
from bertlab.data.documents_lines import (
    MAX_BYTES_IN_LINE,
    Problems,
    RecordError,
    check_surrogates,
    json_of,
    open_binary,
)

TABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
CONLL_SUFFIXES = (".conll", ".conllu", ".txt", ".bio", ".iob", ".iob2")
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}  # between the columns of a CSV file
_PARQUET_BATCH_SIZE = 4096  # rows
_CONLL = {"word_column": 0, "tag_column": -1, "separator": None, "comment": None}
_CONLLU = {"word_column": 1, "tag_column": 3, "separator": "\t", "comment": "#"}  # the tag is UPOS
_LINES_LOOKED_AT = 100  # of a .txt file, to tell a table from CoNLL


class Record(NamedTuple):
    """One record of a file. where: "FILE line 12", for messages. columns: name → value."""

    where: str
    columns: dict


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
    header has no comma, another of `SEPARATORS`. .jsonl: an object on each line. .json: an array of objects, or SQuAD's
    form. .parquet: needs the package pyarrow. `header` names the columns of a .tsv that has no header line. Blank lines
    are ignored.
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
        content = read_json(path)
        parse = check_surrogates
        if isinstance(content, list):
            found = ((f"record {index}", columns) for index, columns in enumerate(content))
        elif isinstance(content, dict) and isinstance(content.get("data"), list):
            found, parse = _squad_questions(path, content["data"]), _squad_columns
        else:
            kind = type(content).__name__
            raise DataError(f"{path}: expected a JSON array of objects (or SQuAD's format), found {kind}")
    for place, content in found:
        with problems.at(f"{path} {place}"):
            try:
                value = parse(content)
            except ValueError as error:
                raise RecordError(f"not valid JSON ({error})") from None
            if not isinstance(value, dict):
                raise RecordError(f"expected a JSON object, found {type(value).__name__}")
            yield Record(f"{path} {place}", value)


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


# === SQuAD ===
#
#    {"version": "v2.0", "data": [{"title": …, "paragraphs": [{"context": …, "qas": [
#        {"id": …, "question": …, "is_impossible": false, "answers": [{"text": …, "answer_start": 12}]}]}]}]}
#
# Sources: Rajpurkar et al. 2016 (version 1.1) and 2018 (2.0, with unanswerable questions). Offsets are characters.


def _squad_questions(path, articles: list) -> Iterator[tuple[str, object]]:
    """The place of every question, and the question with its context."""
    for a, article in enumerate(articles):
        for p, paragraph in enumerate(_list_in(article, "paragraphs", f"{path} article {a}")):
            place = f"article {a} paragraph {p}"
            for q, question in enumerate(_list_in(paragraph, "qas", f"{path} {place}")):
                context = {"context": paragraph.get("context")}
                yield f"{place} question {q}", question | context if isinstance(question, dict) else question


def _list_in(value, key: str, where: str) -> list:
    if not isinstance(value, dict) or not isinstance(value.get(key), list):
        raise DataError(f"{where}: expected an object with a list under {key!r}")
    return value[key]


def _squad_columns(question):
    """The columns of a question. An impossible one has no answers (`plausible_answers` do not count)."""
    if not isinstance(check_surrogates(question), dict):
        return question
    for key in ("context", "question", "id"):
        if not isinstance(question.get(key), str):
            raise RecordError(f"{key!r} must be text, found {type(question.get(key)).__name__}")
    answers = [] if question.get("is_impossible") else question.get("answers", [])
    try:
        texts, starts = ([answer[key] for answer in answers] for key in ("text", "answer_start"))
    except (KeyError, TypeError):
        raise RecordError("each answer must be an object with 'text' and 'answer_start'") from None
    return question | {"answers": texts, "answer_starts": starts}


# === A word on each line ===


def is_conll(path: str | Path, given: dict, problems: Problems) -> bool:
    """Whether a file has a word on each line, by its suffix; a .txt file may also be a table, as a note then says.

    It is a table where every line has tabs and some column holds a text of several words. given: options of
    `read_conll`; with one of them, no file is a table.
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".txt" and not given:
        lines = [line.split("\t") for _, line in islice(read_lines(path), _LINES_LOOKED_AT) if line.strip()]
        has_texts = any(" " in column.strip() for columns in lines for column in columns)
        if has_texts and all(len(columns) > 1 for columns in lines):
            problems.notes.append(f"{path}: a table with tabs between its columns, since they hold several words")
            return False
    return suffix in CONLL_SUFFIXES


def read_conll(path: str | Path, problems: Problems, given: dict | None = None) -> Iterator[Record]:
    """Yields a record {"words": […], "tags": […]} for each sentence of a CoNLL file; a blank line ends a sentence.

        EU NNP B-NP B-ORG
        rejects VBZ B-VP O

    given: options that differ from `_CONLL`, which suits CoNLL-2003 (Tjong Kim Sang & De Meulder 2003) and WNUT-17
    (Derczynski et al. 2017). word_column, tag_column: indices, from the end if negative; tag_column None reads words
    only. separator: None for any run of spaces and tabs, or the exact text between two columns. comment: lines that
    begin with it are left out ("# " in Universal Dependencies; a single "#" is a word), as are `-DOCSTART-` lines and,
    in a .conllu file, multiword tokens (1-2) and empty nodes (8.1).
    A line with too few columns, or with a different number of columns from the first, makes its whole sentence invalid.
    """
    is_numbered = Path(path).suffix.lower() == ".conllu"
    options = (_CONLLU if is_numbered else _CONLL) | (given or {})
    separator, comment = options["separator"], options["comment"]
    chosen = {"words": options["word_column"], "tags": options["tag_column"]}
    if chosen["tags"] is None:
        del chosen["tags"]
    # As many columns as the indices reach, and two where there are words and tags.
    width, least_width = 0, max(len(chosen), *(index + 1 if index >= 0 else -index for index in chosen.values()))
    for block in read_blocks(path):
        lines = []  # of words: their number, the line, its fields
        for number, line in block:
            fields = re.split(r"[ \t]+", line.strip(" \t")) if separator is None else line.split(separator)
            is_comment = comment is not None and line.startswith(comment)
            if not (is_comment or fields[0] == "-DOCSTART-" or (is_numbered and not fields[0].isdigit())):
                lines.append((number, line, fields))
        if not lines:
            continue
        width = width or max(len(lines[0][2]), least_width)
        wrong = next((line for line in lines if len(line[2]) != width), None)
        if wrong:
            problems.add(f"{path} line {wrong[0]}: {len(wrong[2])} columns, expected {width}, in {wrong[1]!r}")
        else:
            columns = {name: [fields[index] for _, _, fields in lines] for name, index in chosen.items()}
            yield Record(f"{path} line {lines[0][0]}", columns)


def conll_options(given: dict) -> dict:
    """Checked options of `read_conll`; also from the command line: "word-column": "1", "tag_column": "none"."""
    options = {}
    for written, value in given.items():
        name = written.replace("-", "_")
        if name not in _CONLL:
            raise DataError(f"CoNLL files have no option {written!r}; expected one of {', '.join(_CONLL)}")
        if name == "tag_column" and (value is None or str(value).lower() == "none"):
            options[name] = None
        elif name.endswith("column"):
            if isinstance(value, bool) or not re.fullmatch(r"-?[0-9]{1,9}", str(value)):
                or_none = ", or none where words have no tags" if name == "tag_column" else ""
                raise DataError(
                    f"{name} is the number of a column, from 0, or from the end if negative{or_none}; not {value!r}"
                )
            options[name] = int(value)
        elif value is None or (isinstance(value, str) and value):
            options[name] = "\t" if value == r"\t" else value
        else:
            raise DataError(f"{name} must be text that is not empty, not {value!r}")
    return options
