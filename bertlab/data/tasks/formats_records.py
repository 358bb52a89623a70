"""From records (dictionaries of columns) to rows, for every shape.

A `Columns` says which column plays which role. The same code therefore reads a GLUE file, SWAG, a CSV of your own and
a Hugging Face data set: they differ in the names of their columns only.

| shape | roles |
|---|---|
| sentence | text, label |
| pair | text_a, text_b, label |
| multiple-choice | context, choices (one column with a list, or several columns), label |
| tagging | words, tags (lists, or words separated by spaces) |
| question | id, question, context, answers, answer_starts (lists, or one answer) |
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from bertlab.data.tasks.formats import Problems, Record
from bertlab.data.tasks.rows import MultipleChoiceRow, PairRow, QuestionRow, Row, SentenceRow, TaggingRow
from bertlab.errors import DataError

ROLES = {
    "sentence": ("text", "label"),
    "pair": ("text_a", "text_b", "label"),
    "multiple-choice": ("context", "choices", "label"),
    "tagging": ("words", "tags"),
    "question": ("id", "question", "context", "answers", "answer_starts"),
}
# What a test set may lack. Elsewhere a question without answers is one that cannot be answered (SQuAD 2.0).
ANSWER_ROLES = {"label", "tags", "answers", "answer_starts"}


class RecordError(Exception):
    """A defect of one record; caught here and reported with the record's place."""


@dataclass(frozen=True)
class Columns:
    """Which column plays which role, and how labels are written.

    shape: one of `rows.SHAPES`. names: role → column (a tuple of columns for `choices`); a dot goes into
    an object ("answers.text"); a role that is not named is the column of its own name. labels: names of the classes in
    the order of their indices, () for regression. ending_start: a column put before every choice (SWAG's `sent2`).
    missing_label: a value that stands for "not known" (Hugging Face writes −1 in test sets). may_lack_answers: whether
    rows without labels, tags or answers are in order, as in a test set.
    """

    shape: str
    names: dict[str, str | tuple[str, ...]] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    ending_start: str | None = None
    missing_label: object = None
    may_lack_answers: bool = False

    def __post_init__(self):
        if self.shape not in ROLES:
            raise DataError(f"the shape {self.shape!r} is not known; choose one of {', '.join(ROLES)}")
        unknown = sorted(set(self.names) - set(ROLES[self.shape]))
        if unknown:
            known = ", ".join(ROLES[self.shape])
            raise DataError(f"a {self.shape} task has no role {', '.join(unknown)}; its roles are {known}")

    def of(self, role: str) -> str | tuple[str, ...]:
        """The column (or columns) that play a role."""
        return self.names.get(role, role)


def guess_shape(columns: Iterable[str], names: dict) -> str:
    """The shape whose roles are all there, by the columns' own names or by `names`. Raises DataError if none fits."""
    present = set(columns) | set(names)
    for shape in ("question", "multiple-choice", "tagging", "pair", "sentence"):
        if all(role in present for role in ROLES[shape] if role not in ANSWER_ROLES):
            return shape
    listed = "; ".join(f"{shape}: {', '.join(roles)}" for shape, roles in ROLES.items())
    raise DataError(
        f"the columns {', '.join(sorted(present)) or '(none)'} fit no shape ({listed}); "
        'say which column plays which role, for example columns={"text": "review", "label": "stars"}'
    )


def rows_from_records(records: Iterable[Record], columns: Columns, problems: Problems) -> list[Row]:
    """The rows of a split. A defective record goes to `problems`, with its place."""
    make = _MAKERS[columns.shape]
    rows = []
    for where, record in records:
        try:
            rows.append(make(record, columns))
        except RecordError as error:
            problems.add(f"{where}: {error}")
    return rows


def label_names(records: Iterable[Record], columns: Columns) -> tuple[str, ...]:
    """The distinct labels (or tags) of some records, sorted: as numbers if all are whole numbers, otherwise as text.

    "O" comes first among tags, so that the index 0 means "no entity". Numbers that are not all whole are no classes:
    the answer is then (), regression.
    """
    seen = set()
    for where, record in records:
        try:
            if columns.shape == "tagging":
                seen.update(str(tag) for tag in _words(_value(record, columns, "tags")) or ())
            elif (value := _value(record, columns, "label")) is not None:
                seen.add(str(value))
        except RecordError as error:
            raise DataError(f"{where}: {error}") from None
    if all(_is_index(name) for name in seen):
        return tuple(sorted(seen, key=int))
    if columns.shape != "tagging" and all(map(_is_number, seen)):
        return ()
    return tuple(sorted(seen, key=lambda name: (name != "O", name)))


# --- one maker for each shape ---


def _sentence(record: dict, columns: Columns) -> SentenceRow:
    return SentenceRow(_text(record, columns, "text"), _label(record, columns))


def _pair(record: dict, columns: Columns) -> PairRow:
    return PairRow(_text(record, columns, "text_a"), _text(record, columns, "text_b"), _label(record, columns))


def _multiple_choice(record: dict, columns: Columns) -> MultipleChoiceRow:
    choices = _choices(record, columns)
    if columns.ending_start is not None:
        start = _lookup(record, columns.ending_start)
        choices = [f"{start} {choice}" for choice in choices]
    value = _value(record, columns, "label")
    label = None if value is None else _index_of(value, tuple(map(str, range(len(choices)))))
    return MultipleChoiceRow(_text(record, columns, "context"), tuple(choices), label)


def _tagging(record: dict, columns: Columns) -> TaggingRow:
    words = _words(_value(record, columns, "words"))
    tags = _words(_value(record, columns, "tags"))
    if not words:
        raise RecordError("there are no words")
    if tags is None:
        return TaggingRow(words)
    if len(tags) != len(words):
        raise RecordError(f"{len(words)} words but {len(tags)} tags; expected one tag for each word")
    return TaggingRow(words, tuple(_index_of(tag, columns.labels) for tag in tags))


def _question(record: dict, columns: Columns) -> QuestionRow:
    context = _text(record, columns, "context")
    answers = _as_list(_value(record, columns, "answers"))
    starts = _as_list(_value(record, columns, "answer_starts"))
    id, question = str(_value(record, columns, "id")), _text(record, columns, "question")
    return make_question(id, question, context, answers, starts)


def make_question(id: str, question: str, context: str, answers: list, starts: list) -> QuestionRow:
    """A QuestionRow whose answers stand where they are said to stand. Raises RecordError otherwise."""
    if len(answers) != len(starts):
        raise RecordError(f"question {id}: {len(answers)} answers but {len(starts)} answer starts")
    numbers = []
    for answer, start in zip(answers, starts):
        if not _is_index(start):
            raise RecordError(f"question {id}: answer_start must be a whole number of characters, not {start!r}")
        start = int(start)
        found = context[start : start + len(answer)]
        if found != answer or not answer:
            raise RecordError(f"question {id}: the context has {found!r} at answer_start {start}, expected {answer!r}")
        numbers.append(start)
    return QuestionRow(id, question, context, tuple(answers), tuple(numbers))


_MAKERS: dict[str, Callable[[dict, Columns], Row]] = {
    "sentence": _sentence,
    "pair": _pair,
    "multiple-choice": _multiple_choice,
    "tagging": _tagging,
    "question": _question,
}


# --- values ---


def _lookup(record: dict, column: str):
    """The value of a column; a name that is not there and has a dot goes into an object."""
    if column in record:
        return record[column]
    head, _, rest = column.partition(".")
    if rest and isinstance(record.get(head), dict):
        return _lookup(record[head], rest)
    raise RecordError(f"there is no column {column!r}; the columns are {', '.join(map(str, record))}")


def _value(record: dict, columns: Columns, role: str):
    """The value of a role, or None where an answer is absent (only in a test set), empty or marked as not known."""
    column = columns.of(role)
    if role in ANSWER_ROLES and columns.may_lack_answers and not _has(record, column):
        return None
    value = _lookup(record, column)
    if role in ANSWER_ROLES and (value is None or value == "" or value == columns.missing_label):
        if role in ("label", "tags") and not columns.may_lack_answers:
            raise RecordError(f"column {column!r} is empty; only rows of a test set may lack it")
        return None
    return value


def _has(record: dict, column: str) -> bool:
    return column in record or column.partition(".")[0] in record


def _text(record: dict, columns: Columns, role: str) -> str:
    value = _value(record, columns, role)
    if not isinstance(value, str):
        raise RecordError(f"column {columns.of(role)!r}: expected text, found {type(value).__name__}")
    return value


def _label(record: dict, columns: Columns) -> int | float | None:
    value = _value(record, columns, "label")
    if value is None:
        return None
    if columns.labels:
        return _index_of(value, columns.labels)
    if not _is_number(value):
        raise RecordError(f"column {columns.of('label')!r}: expected a number, found {value!r}")
    return float(value)


def _index_of(value, labels: tuple[str, ...]) -> int:
    """A label's index, from its name or (where it is no name) from the index itself."""
    if str(value) in labels:
        return labels.index(str(value))
    if _is_index(value) and int(value) < len(labels):
        return int(value)
    raise RecordError(f"unknown label {value!r}; expected one of {', '.join(labels)}")


def _is_index(value) -> bool:
    """Whether a value is a whole number from 0, as a number or in ASCII digits (True and 1.0 are not)."""
    if isinstance(value, str):
        return value.isascii() and value.isdigit()
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_number(value) -> bool:
    """Whether a value is, or spells, a finite number."""
    try:
        return math.isfinite(float(value))
    except (TypeError, ValueError):
        return False


def _as_list(value) -> list:
    return [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]


def _words(value) -> tuple | None:
    if value is None:
        return None
    return tuple(value.split()) if isinstance(value, str) else tuple(value)


def _choices(record: dict, columns: Columns) -> list[str]:
    column = columns.of("choices")
    if isinstance(column, tuple):
        values = [_lookup(record, name) for name in column]
    else:
        values = _as_list(_lookup(record, column))
    if len(values) < 2 or not all(isinstance(value, str) for value in values):
        raise RecordError(f"expected at least two choices, all text, found {values!r}")
    return values
