"""Texts without labels: pairs of texts that belong together, or single texts, each of which is paired with itself."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from bertlab.common.errors import DataError, asked
from bertlab.data.documents_lines import Problems
from bertlab.data.tasks.formats import Record, read_lines, read_table
from bertlab.data.tasks.formats_records import ANSWER_ROLES, Columns, rows_from_records, with_usual_columns
from bertlab.data.tasks.rows import PairRow, Row


def read_pairs(path: str | Path, columns: dict | None = None, problems: Problems | None = None) -> list[PairRow]:
    """The pairs of a file; labels in it are ignored.

    A .txt file has a text on each line. Any other is read as by `load_task`: with the fields text_a and text_b, or with
    the field text; `columns` maps fields to columns. Where all three are there, text_a and text_b are read. A single
    text is paired with itself. Raises DataError, with file and line, also for an empty text, for `columns` of a .txt
    file and for fewer than two pairs.
    """
    problems = problems or Problems()
    if Path(path).suffix.lower() == ".txt":
        if columns:
            raise DataError(f"{path}: a .txt file has no columns; leave out {asked('--column', 'columns')}")
        rows = [PairRow(line, line) for _, line in read_lines(path) if line.strip()]
    else:
        rows = _rows_of_table(path, dict(columns or {}), problems)
    if len(rows) < 2:
        raise DataError(f"{path}: expected at least two texts or pairs, got {len(rows)}")
    return rows


def _rows_of_table(path, names: dict, problems: Problems) -> list[PairRow]:
    records = list(read_table(path, problems))
    if not records:
        return []
    shape = _shape(records[0].columns, names)
    names = with_usual_columns(records[0].columns, names, shape)
    pairs = []
    for where, made in unlabelled_rows(records, shape, names, problems):
        pair = PairRow(made.text, made.text) if shape == "sentence" else made
        if pair.text_a.strip() and pair.text_b.strip():
            pairs.append(pair)
        else:
            problems.add(f"{where}: a text is empty; expected a text in each field")
    return pairs


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


def _shape(columns: Iterable[str], names: dict) -> str:
    """The task type: what `names` say or, where they do not tell, what they and the columns have."""
    for fields in (set(names), {*columns, *names}):
        if fields.issuperset({"text_a", "text_b"}):
            return "pair"
        if "text" in fields:
            return "sentence"
    return "pair"
