"""Texts without labels: pairs of texts that belong together, or single texts, each of which is paired with itself."""

from pathlib import Path

from bertlab.data.tasks.formats import Problems, Record, read_lines, read_table
from bertlab.data.tasks.formats_records import Columns, rows_from_records, with_usual_columns
from bertlab.data.tasks.rows import PairRow
from bertlab.errors import DataError


def read_pairs(path: str | Path, columns: dict | None = None, problems: Problems | None = None) -> list[PairRow]:
    """The pairs of a file; labels in it are ignored.

    A .txt file has a text on each line. Any other is read as by `load_task`: with the fields text_a and text_b, or with
    the field text; `columns` maps fields to columns. A single text is paired with itself. Raises DataError, with file
    and line, and for fewer than two pairs.
    """
    problems = problems or Problems()
    if Path(path).suffix.lower() == ".txt":
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
    shape = "sentence" if "text" in {*records[0].columns, *names} else "pair"
    names = with_usual_columns(records[0].columns, names, shape)
    label = names.pop("label", "label")
    unlabelled = (
        Record(where, {name: value for name, value in row.items() if name != label}) for where, row in records
    )
    rows = rows_from_records(unlabelled, Columns(shape, names, may_lack_answers=True), problems)
    return [PairRow(row.text, row.text) for row in rows] if shape == "sentence" else rows
