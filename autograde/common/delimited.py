"""CSV files that other programs write, with commas, tabs, or semicolons, where the comma is the decimal sign."""

import csv
import io
import re
from collections.abc import Sequence

from autograde.common.errors import InputError

LONGEST_CELL = 4_000_000  # characters; Python's own limit, 131,072, is less than a cell of feedback can have
_FIRST_HEADING = re.compile(r'(?:"[^"\n]*"|[^",;\t\n]*)(?P<separator>[,;\t])')


def read_table(text: str) -> tuple[list[list[str]], str]:
    """The rows of a CSV and its separator: the sign behind its first heading, since other headings may contain any.

    Raises InputError.
    """
    text = text.lstrip("\ufeff")
    found = _FIRST_HEADING.match(text)
    separator = found["separator"] if found else ","
    csv.field_size_limit(LONGEST_CELL)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator)), separator
    except csv.Error as reason:
        raise InputError(f"expected a CSV with at most {LONGEST_CELL:,} characters in a cell ({reason})") from None


def read_records(text: str) -> list[dict[str, str]]:
    """The rows of a CSV with a line of headings, without blank rows: heading → cell, "" where a row is too short.

    Raises InputError.
    """
    lines, _ = read_table(text)
    head = lines[0] if lines else []
    return [dict(zip(head, line + [""] * (len(head) - len(line)))) for line in lines[1:] if line]


def column_of(header: Sequence[str], names: Sequence[str]) -> int | None:
    """The column with the first of these titles that is there."""
    return next((header.index(name) for name in names if name in header), None)


def value_of(line: Sequence[str], header: Sequence[str], names: Sequence[str]) -> str:
    """A row's cell in that column; empty where it has none."""
    column = column_of(header, names)
    return line[column].strip() if column is not None and column < len(line) else ""
