"""From records (dictionaries of columns) to rows, for every task type.

A GLUE file, SWAG, your own CSV and a Hugging Face data set differ only in their `Columns`, which map fields (roles) to
columns.

| task type | fields |
|---|---|
| sentence | text, label |
| pair | text_a, text_b, label |
| multiple-choice | context, choices (one column with a list, or several columns), label |
| tagging | words, tags (lists, or words separated by spaces) |
| question | id, question, context, answers, answer_starts (lists, or one answer); rows without id are numbered |
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace

from bertlab.common.errors import DataError, asked
from bertlab.data.documents_lines import Problems, RecordError
from bertlab.data.tasks.formats import Record
from bertlab.data.tasks.formats_labels import find_classes, index_of, is_index, is_number, sort_tags
from bertlab.data.tasks.rows import ROWS, MultipleChoiceRow, QuestionRow, Row, TaggingRow

ROLES = {shape: tuple(field.name for field in fields(row)) for shape, row in ROWS.items()}
# A test set may lack these. In other splits a question without answers is unanswerable (SQuAD 2.0).
ANSWER_ROLES = {"label", "tags", "answers", "answer_starts"}


@dataclass(frozen=True)
class Columns:
    """The column of each field (role), and the format of labels.

    shape: a key of `ROLES`. names: role → column (a tuple of columns for `choices`); a dot goes into
    an object ("answers.text"); a field that is not in `names` has the column of the same name. labels: names of the
    classes in the order of their indices, () for regression. labels_found: whether they come from the training rows
    instead of a declaration (see `formats_labels`). ending_start: a column put before every choice (SWAG's `sent2`).
    missing_label: a value that means "unknown" (Hugging Face writes −1 in test sets). may_lack_answers: whether
    rows without labels, tags or answers are valid, as in a test set. reads_answers: False leaves them out. multi_label:
    a row has any number of labels, as a list, or as text with `label_separator` between them.
    """

    shape: str
    names: dict[str, str | tuple[str, ...]] = field(default_factory=dict)
    labels: tuple[str, ...] = ()
    labels_found: bool = False
    ending_start: str | None = None
    missing_label: object = None
    may_lack_answers: bool = False
    reads_answers: bool = True
    multi_label: bool = False
    label_separator: str | None = None

    def __post_init__(self):
        if self.shape not in ROLES:
            raise DataError(f"unknown shape {self.shape!r}; choose one of {', '.join(ROLES)}")
        unknown = sorted(set(self.names) - set(ROLES[self.shape]))
        if unknown:
            known = ", ".join(ROLES[self.shape])
            raise DataError(f"a {self.shape} task has no field {', '.join(unknown)}; its fields are {known}")
        for role, column in self.names.items():
            if not isinstance(column, str) and role != "choices":
                raise DataError(f"the field {role} needs the name of one column, not {column!r}")

    def of(self, role: str) -> str | tuple[str, ...]:
        """The column (or columns) of a field."""
        return self.names.get(role, role)


# The headers of GLUE's files and data sets: fields → columns, tried in this order where no field has its own column.
_USUAL = (
    ("pair", {"text_a": "sentence1", "text_b": "sentence2"}),
    ("pair", {"text_a": "question1", "text_b": "question2"}),
    ("pair", {"text_a": "premise", "text_b": "hypothesis"}),
    ("pair", {"text_a": "question", "text_b": "sentence"}),
    ("sentence", {"text": "sentence"}),
)
_USUAL_LABELS = ("score", "gold_label", "is_duplicate")


def with_usual_columns(columns: Iterable[str], names: dict, shape: str | None) -> dict:
    """`names` (field → column) completed by the headers that GLUE's files have, such as sentence1, sentence2, score.

    columns: those of the file. shape: the task type, if it is known. A field that has a column of its own name, or one
    in `names`, keeps it.
    """
    present = set(columns)
    if not any(_has_fields(present | set(names), one) for one in ROLES if shape in (None, one)):
        usual = (fields for own, fields in _USUAL if shape in (None, own) and present.issuperset(fields.values()))
        names = next(usual, {}) | names
    there = present | set(names)
    label = next((name for name in _USUAL_LABELS if name in present), None)
    if label and "label" not in there:
        if any(shape in (None, one) and _has_fields(there, one) for one in ("pair", "sentence")):
            return names | {"label": label}
    return names


def _has_fields(present: set[str], shape: str) -> bool:
    """Whether every field of a task type has a column, answers and ids aside."""
    return all(role in present for role in ROLES[shape] if role not in ANSWER_ROLES | {"id"})


def guess_shape(columns: Iterable[str], names: dict) -> str:
    """The task type whose fields all have a column, by name or through `names`. Raises DataError if none matches."""
    present = set(columns) | set(names)
    for shape in ("question", "multiple-choice", "tagging", "pair", "sentence"):
        if _has_fields(present, shape):
            return shape
    listed = "; ".join(f"{shape}: {', '.join(roles)}" for shape, roles in ROLES.items())
    raise DataError(
        f"the columns {', '.join(sorted(present)) or '(none)'} match no task type ({listed}); "
        "assign columns to fields, for example "
        + asked("--column text=review --column label=stars", 'columns={"text": "review", "label": "stars"}')
    )


def rows_from_records(records: Iterable[Record], columns: Columns, problems: Problems) -> list[Row]:
    """The rows of a split. An invalid record goes to `problems`, with its location."""
    rows, ids = [], set()
    for number, (where, record) in enumerate(records, start=1):
        with problems.at(where):
            row = _MAKERS.get(columns.shape, _labelled)(record, columns)
            if isinstance(row, QuestionRow):
                row = row if row.id else replace(row, id=f"row-{number}")
                if row.id in ids:
                    raise RecordError(f"duplicate id {row.id!r}; each id must be unique")
                ids.add(row.id)
            rows.append(row)
    return rows


def unlabelled_rows(
    records: Iterable[Record], shape: str, names: dict, problems: Problems
) -> Iterator[tuple[str, Row]]:
    """Yields (where, row) of records, whose labels, tags or answers are not read. names: field → column."""
    read = {field: column for field, column in names.items() if field not in ANSWER_ROLES}
    columns = Columns(shape, read, reads_answers=False)
    for number, (where, record) in enumerate(records, start=1):
        if shape == "question":
            record = {"id": str(number)} | record
        for row in rows_from_records([Record(where, record)], columns, problems):
            yield where, row


def label_names(records: Iterable[Record], columns: Columns, problems: Problems) -> tuple[str, ...]:
    """The distinct labels (or tags) of some records, in the order of `find_classes` (or `sort_tags`).

    Invalid records are ignored here; they are reported when their rows are made.
    """
    found = []
    for where, record in records:
        with suppress(RecordError):
            if columns.shape == "tagging":
                found += ((where, str(tag)) for tag in _tags(record, columns) or ())
            elif columns.multi_label:
                found += ((where, label) for label in _several(record, columns) or ())
            elif (value := _value(record, columns, "label")) is not None:
                found.append((where, value))
    if columns.shape == "tagging" or columns.multi_label:
        return sort_tags({str(label) for _, label in found})
    return find_classes(found, problems)


# --- one maker for each shape ---


def _labelled(record: dict, columns: Columns) -> Row:
    """A sentence or a pair: texts and a label."""
    texts = [_text(record, columns, role) for role in ROLES[columns.shape] if role != "label"]
    return ROWS[columns.shape](*texts, _label(record, columns))


def _multiple_choice(record: dict, columns: Columns) -> MultipleChoiceRow:
    """A choice is named by a label of the task or by its number from 0."""
    column = columns.of("choices")
    if isinstance(column, tuple):
        choices = [_lookup(record, name) for name in column]
    else:
        choices = _as_list(_lookup(record, column))
    if len(choices) < 2 or not all(isinstance(value, str) for value in choices):
        raise RecordError(
            f"expected at least two choices, all text, found {choices!r}; name the columns of the choices with "
            + asked("--column choices=A,B", 'columns={"choices": ("A", "B")}')
        )
    if columns.ending_start is not None:
        start = _lookup(record, columns.ending_start)
        choices = [f"{start} {choice}" for choice in choices]
    context, count = _text(record, columns, "context"), len(choices)
    labels = columns.labels or tuple(map(str, range(count)))
    if len(labels) < count:
        raise RecordError(f"{count} choices but {len(labels)} labels ({', '.join(labels)})")
    value = _value(record, columns, "label")
    return MultipleChoiceRow(context, tuple(choices), None if value is None else index_of(value, labels[:count]))


def _tagging(record: dict, columns: Columns) -> TaggingRow:
    words = _series(_value(record, columns, "words"), columns.of("words"))
    if not words:
        raise RecordError("expected at least one word")
    for number, word in enumerate(words, start=1):  # each must fit into one column of a file such as CoNLL's
        if not isinstance(word, str) or not word or any(character in word for character in " \t\r\n"):
            raise RecordError(f"word {number} is {word!r}; expected text without white space, and not empty")
    tags = _tags(record, columns)
    if tags is None:
        return TaggingRow(words)
    if len(tags) != len(words):
        raise RecordError(f"{len(words)} words but {len(tags)} tags; expected one tag for each word")
    return TaggingRow(words, tuple(index_of(tag, columns.labels, columns.labels_found) for tag in tags))


def _question(record: dict, columns: Columns) -> QuestionRow:
    """A question whose answers are at their answer_start; its id is "" if there is none."""
    context = _text(record, columns, "context")
    answers, starts = (_as_list(_value(record, columns, role)) for role in ("answers", "answer_starts"))
    id = _value(record, columns, "id") if "id" in columns.names or "id" in record else ""
    id = "" if _is_empty(id) else str(id).strip()
    question = _text(record, columns, "question")
    here = f"question {id}: " if id else ""
    if len(answers) != len(starts):
        raise RecordError(f"{here}{len(answers)} answers but {len(starts)} answer starts")
    for answer, start in zip(answers, starts):
        if not isinstance(answer, str):
            raise RecordError(f"{here}an answer must be text, not {answer!r}")
        if not is_index(start):
            raise RecordError(f"{here}answer_start must be a whole number of characters, not {start!r}")
        if not answer:
            raise RecordError(f"{here}an answer must not be empty; a question without an answer has no answers at all")
        found = context[int(start) : int(start) + len(answer)]
        if found != answer:
            raise RecordError(f"{here}the context has {found!r} at answer_start {start}, expected {answer!r}")
    return QuestionRow(id, question, context, tuple(answers), tuple(map(int, starts)))


_MAKERS = {"multiple-choice": _multiple_choice, "tagging": _tagging, "question": _question}


# --- values ---


def _lookup(record: dict, column: str):
    """The value of a column; a dot in a name that does not exist leads into an object."""
    if column in record:
        return record[column]
    head, _, rest = column.partition(".")
    if rest and isinstance(record.get(head), dict):
        return _lookup(record[head], rest)
    raise RecordError(f"there is no column {column!r}; the columns are {', '.join(map(str, record))}")


def _value(record: dict, columns: Columns, role: str):
    """The value of a role, or None if an answer is absent (only in a test set), empty or marked as not known."""
    column = columns.of(role)
    if role not in ANSWER_ROLES:
        return _lookup(record, column)
    is_there = column in record or column.partition(".")[0] in record
    if not columns.reads_answers or (columns.may_lack_answers and not is_there):
        return None
    value = _lookup(record, column)
    if _is_empty(value) or value == columns.missing_label:
        if role in ("label", "tags") and not columns.may_lack_answers and not columns.multi_label:
            several = asked("--label-separator ,", "label_separator=','")
            hint = f"; if rows have any number of labels, give {several}" if role == "label" else ""
            raise RecordError(f"column {column!r} is empty; only rows of a test set may lack it{hint}")
        return None
    if role != "label" or columns.multi_label:
        return value
    if not isinstance(value, (str, int, float)):
        raise RecordError(f"column {column!r}: expected a name or a number, found {value!r:.80}")
    return value.strip() if isinstance(value, str) else value


def _is_empty(value) -> bool:
    """Whether a cell is empty. Many programs write an empty cell to JSON as NaN, which is unequal to itself."""
    return value is None or value != value or (isinstance(value, str) and not value.strip())


def _text(record: dict, columns: Columns, role: str) -> str:
    value = _value(record, columns, role)
    if not isinstance(value, str):
        raise RecordError(f"column {columns.of(role)!r}: expected text, found {type(value).__name__}")
    return value


def _several(record: dict, columns: Columns) -> tuple | None:
    """The labels of a multi-label record, as written; () if none applies, None in a test set without labels."""
    value = _value(record, columns, "label")
    if value is None:
        return None if columns.may_lack_answers else ()
    split = isinstance(value, str) and columns.label_separator
    several = value.split(columns.label_separator) if split else _as_list(value)
    labels = tuple(label.strip() if isinstance(label, str) else label for label in several)
    for label in labels:
        if _is_empty(label) or isinstance(label, bool) or not isinstance(label, (str, int)):
            raise RecordError(
                f"column {columns.of('label')!r}: expected names of labels, got {label!r} in {value!r:.80}"
            )
    return labels


def _label(record: dict, columns: Columns) -> int | float | tuple[int, ...] | None:
    if columns.multi_label:
        labels = _several(record, columns)
        if labels is None:
            return None
        return tuple(sorted({index_of(label, columns.labels, columns.labels_found) for label in labels}))
    value = _value(record, columns, "label")
    if value is None:
        return None
    if columns.labels:
        return index_of(value, columns.labels, columns.labels_found)
    if not is_number(value):
        raise RecordError(f"column {columns.of('label')!r}: expected a number, found {value!r}")
    return float(value)


def _as_list(value) -> list:
    return [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]


def _tags(record: dict, columns: Columns) -> tuple[str | int, ...] | None:
    value = _value(record, columns, "tags")
    tags = None if value is None else _series(value, columns.of("tags"))
    for number, tag in enumerate(tags or (), start=1):
        if _is_empty(tag) or not isinstance(tag, (str, int)):
            raise RecordError(f"tag {number} is {tag!r}; expected a name, or the number of a label")
    return tags


def _series(value, column: str) -> tuple:
    """The elements of a list, or of text with white space between them."""
    if not isinstance(value, (str, list, tuple)):
        raise RecordError(f"column {column!r}: expected a list, or text with spaces between, found {value!r:.80}")
    return tuple(value.split() if isinstance(value, str) else value)
