"""CSV files that other programs write, with commas, tabs, or semicolons, where the comma is the decimal sign."""

import csv
import io
import re

_FIRST_HEADING = re.compile(r'(?:"[^"\n]*"|[^",;\t\n]*)(?P<separator>[,;\t])')


def read_table(text: str) -> tuple[list[list[str]], str]:
    """The rows of a CSV and its separator: the sign behind its first heading, since other headings may contain any."""
    text = text.lstrip("\ufeff")
    found = _FIRST_HEADING.match(text)
    separator = found["separator"] if found else ","
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator)), separator


def read_records(text: str) -> list[dict[str, str]]:
    """The rows of a CSV with a line of headings, without blank rows: heading → cell, "" where a row is too short."""
    lines, _ = read_table(text)
    head = lines[0] if lines else []
    return [dict(zip(head, line + [""] * (len(head) - len(line)))) for line in lines[1:] if line]
