"""From raw inputs to rows: values of Python, lines of a file and, by its suffix, tables and CoNLL (see `load_task`).

Labels, tags and answers in a file are not read. An input of each task type, and what a line has:

sentence           "a text"
pair               ("one text", "another")                          one<TAB>another
multiple-choice    ("context", ["choice", "choice"])                context<TAB>choice<TAB>choice
tagging            "words between spaces" or ["words", …]
question           {"question": …, "context": …} or a pair of both  question<TAB>context, or the JSON object
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from bertlab.common.errors import DataError, asked
from bertlab.data.documents_lines import Problems, json_of
from bertlab.data.tasks.formats import CONLL_SUFFIXES, TABLE_SUFFIXES, read_conll, read_table
from bertlab.data.tasks.formats_records import ANSWER_ROLES, ROLES, guess_shape, unlabelled_rows, with_usual_columns
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, Row, SentenceRow, TaggingRow
from bertlab.training.finetuning.task_kinds import EITHER

EXPECTED = {
    "sentence": "a text",
    "pair": "two texts, or a line with a tab between them",
    "multiple-choice": "a context and two choices or more, or a line with tabs between them",
    "tagging": "a text with blanks between its words, or a list of words",
    "question": 'a question and a context: {"question": …, "context": …}, or a line with a tab between them',
}


def row_of(shape: str, value, number: int, location: str = "") -> Row:
    """The row of one input, the number-th from 1. Raises DataError with its location ("input 7" by default)."""
    row = _row(shape, value, number)
    if row is None:
        raise DataError(f"{location or f'input {number}'}: expected {EXPECTED[shape]}; found {value!r:.80}")
    return row


def _row(shape: str, value, number: int) -> Row | None:
    if shape == "sentence":
        return SentenceRow(value) if isinstance(value, str) else None
    if shape == "tagging":
        words = value.split() if isinstance(value, str) else value
        return TaggingRow(tuple(words)) if _are_texts(words) else None
    if shape == "pair":
        return PairRow(*value) if _are_texts(value) and len(value) == 2 else None
    if shape == "question":
        return _question(value, number)
    if isinstance(value, dict):
        value = (value.get("context"), value.get("choices"))
    if not isinstance(value, Sequence) or len(value) != 2 or not isinstance(value[0], str):
        return None
    return MultipleChoiceRow(value[0], tuple(value[1])) if _are_texts(value[1]) and len(value[1]) > 1 else None


def _question(value, number: int) -> QuestionRow | None:
    if isinstance(value, dict):
        question, context = value.get("question"), value.get("context")
        name = value.get("id", str(number))
    elif _are_texts(value) and len(value) == 2:
        (question, context), name = value, str(number)
    else:
        return None
    return QuestionRow(str(name), question, context) if _are_texts([question, context]) else None


def _are_texts(values) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(value, str) for value in values)


def input_of_line(shape: str, line: str, location: str):
    """The input on a line of a file; location: "FILE line 7", for messages. Raises DataError for invalid JSON."""
    if shape in ("multiple-choice", "question") and line.lstrip().startswith("{"):
        try:
            return json_of(line)
        except ValueError as error:
            raise DataError(f"{location}: not valid JSON ({error})") from None
    if shape == "multiple-choice":
        context, *choices = line.split("\t")
        return context, choices
    return tuple(line.split("\t")) if shape in ("pair", "question") else line


# === Files ===


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
    problems, rows = Problems("skip"), ()
    records = iter(read_table(path, problems))
    first = next(records, None)
    if first is not None:
        names = with_usual_columns(first.columns, columns, None if shape == EITHER else shape)
        own = guess_shape(first.columns, names) if shape == EITHER else shape
        _check_fields(path, own, shape, first.columns, names)
        rows = unlabelled_rows(chain([first], records), own, names, problems)
    yield from _until_a_problem(rows, problems)


def _check_fields(path: Path, own: str, shape: str, present: Iterable[str], names: dict) -> None:
    """Raises DataError for a table that lacks a column which the model reads.

    own: the task type of the table.   shape: of the model.
    """
    if own not in shape:  # "pair" is in "sentence or pair"
        raise DataError(f"{path}: has columns for the shape {own}, and the model reads the shape {shape}")
    fields = [field for field in ROLES[own] if field not in (*ANSWER_ROLES, "id")]
    read_from = {field: names.get(field, field) for field in fields}  # a column, or several
    columns = {field: [one] if isinstance(one, str) else one for field, one in read_from.items()}
    lacking = [field for field in fields if not {one.partition(".")[0] for one in columns[field]} <= set(present)]
    if lacking:
        example = asked(f"--column {lacking[0]}=NAME", f"columns={{'{lacking[0]}': 'NAME'}}")
        raise DataError(
            f"{path}: expected a column for {' and '.join(fields)}, got the columns {', '.join(map(str, present))}; "
            f"name them as for `bertlab finetune` ({example}), or, if each line is an input, rename the file to .txt"
        )


def _rows_of_conll(path: Path, shape: str) -> Iterator[Row]:
    if shape != "tagging":
        raise DataError(f"{path}: has a word on each line, for a tagger; the model reads the shape {shape}")
    problems = Problems("skip")
    records = read_conll(path, problems, {"tag_column": None})
    yield from _until_a_problem(unlabelled_rows(records, shape, {}, problems), problems)


def _until_a_problem(rows: Iterable[tuple[object, Row]], problems: Problems) -> Iterator[Row]:
    """The rows before the first problem, then that one, without advice to skip it: rows and output correspond."""
    for _, row in chain(rows, [(None, None)]):
        if problems.messages:
            raise DataError(problems.messages[0])
        if row is not None:
            yield row
