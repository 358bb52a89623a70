"""Tables that other programs read: CSV with the separator of the system.

Text that a spreadsheet would read as a formula (=, +, -, @ in front) gets an apostrophe, because these cells can
contain names and answers of students; so does such text behind a separator of another country's spreadsheet, where the
cell would be taken apart, and in a new line, which would then be a new row.
"""

import csv
import io
import re
from collections.abc import Iterable, Sequence

_FORMULA = re.compile(r'"*[=+@\t\r-]')  # in quotes, too: a spreadsheet may take the quotes as its own
_BEHIND_A_SEPARATOR = re.compile(r'([;\t\n\r] *)(?="*[=+@-])')
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_ESCAPED = re.compile(r"""([;\t\n\r] *)'(?="*[=+@-])""")


def written(rows: Iterable[Sequence[object]], separator: str = ",") -> str:
    """A CSV without characters that steer a terminal, which names in another system's table can have."""
    plain_rows = ([_CONTROLS.sub("", value) if isinstance(value, str) else value for value in row] for row in rows)
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n", delimiter=separator).writerows(plain_rows)
    return buffer.getvalue()


def table(rows: Iterable[Sequence[object]]) -> str:
    """A CSV of our own cells."""
    return written([cell(value) for value in row] for row in rows)


def cell(value) -> object:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    text = _BEHIND_A_SEPARATOR.sub(r"\1'", str(value))
    return f"'{text}" if _FORMULA.match(text) else text


def plain(text: str) -> str:
    """The text of a cell that `cell` wrote and a spreadsheet may have saved again."""
    text = _ESCAPED.sub(r"\1", text.replace("\r\n", "\n").strip())
    return text[1:] if text.startswith("'") and _FORMULA.match(text[1:]) else text
