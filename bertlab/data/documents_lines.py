"""Reads text files line by line, in constant memory, and reports the defects of a line."""

import csv
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from bertlab.common.errors import DataError, asked

MAX_BYTES_IN_LINE = 10 * 2**20
_SAMPLED_LINES = 20  # from the head of a file, to tell a table from text


class RecordError(Exception):
    """A defect of one record; the reader catches it and reports it with the record's location."""


@dataclass
class Problems:
    """The policy for invalid input, and what was found so far.

    policy: "stop" raises DataError at the first defect, "skip" leaves it out. messages: one line for each skipped
    record. counts: how often each defect of a text was skipped. notes: how something was understood that could be meant
    otherwise, such as a file's separator.
    """

    policy: str = "stop"
    messages: list[str] = field(default_factory=list)
    counts: Counter = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self):
        if self.policy not in ("stop", "skip"):
            raise DataError(f"on_error must be 'stop' or 'skip', not {self.policy!r}")

    def report(self, path: Path, line: int | None, what: str, advice: str) -> None:
        """Raises DataError for a defect of a text, or counts it."""
        if self.policy == "stop":
            where = f"{path}" if line is None else f"{path} line {line}"
            raise DataError(f"{where}: {what}; {advice}")
        self.counts[what] += 1

    def add(self, message: str) -> None:
        """Raises DataError with the message about a record, or stores the message."""
        if self.policy == "stop":
            skipping = asked("--skip-errors", "on_error='skip'")
            raise DataError(f"{message} ({skipping} leaves such records out)")
        self.messages.append(message)

    @contextmanager
    def at(self, where: str) -> Iterator[None]:
        """Adds a RecordError that is raised inside, with its location."""
        try:
            yield
        except RecordError as error:
            self.add(f"{where}: {error}")


def open_binary(path: str | Path):
    """Opens a file for reading bytes. Raises DataError if there is none or it cannot be read."""
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror})") from None


def numbered_lines(path: Path, problems: Problems) -> Iterator[tuple[int, str]]:
    """The good lines of a UTF-8 file with their numbers, from 1; the others are reported to `problems`."""
    with open_binary(path) as file:
        number = 0
        while raw := file.readline(MAX_BYTES_IN_LINE + 1):
            number += 1
            if len(raw) > MAX_BYTES_IN_LINE:
                while raw and not raw.endswith(b"\n"):
                    raw = file.readline(MAX_BYTES_IN_LINE)
                problems.report(path, number, "line over 10 MB", "put one paragraph on a line; is this a text file?")
                continue
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")  # the byte order mark
            if b"\x00" in raw:
                problems.report(path, number, "NUL character", "a text file has none; is it UTF-16 or binary?")
                continue
            try:
                yield number, raw.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                advice = f"byte {error.object[error.start]:#04x} at column {error.start + 1}; convert the file to UTF-8"
                problems.report(path, number, "not UTF-8", advice)


def json_of(text: str):
    """The value of a JSON text. Raises ValueError with the reason if there is none, or one that cannot be kept.

    Python refuses a number of more than 4,300 digits and deep nesting; for half of a surrogate pair see
    `check_surrogates`.
    """
    try:
        value = json.loads(text)
        if "\\u" in text:  # the only way to write one
            check_surrogates(value)
    except json.JSONDecodeError as error:
        raise ValueError(f"{error.msg} at column {error.colno}") from None
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    return value


def check_surrogates(value):
    """The value. Raises ValueError for one with half of a surrogate pair: JSON can express it, UTF-8 cannot."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"half of a surrogate pair, {error.object[error.start]!r}") from None
    return value


def check_not_table(path: Path, problems: Problems) -> bool:
    """Whether a file is a CSV or TSV instead of text, which is reported: a model would learn commas, not English."""
    lines = (line for _, line in numbered_lines(path, Problems("skip")) if line.strip())
    head = list(islice(lines, _SAMPLED_LINES))
    if len(head) < 3:
        return False
    for delimiter, fewest in (("\t", 2), (",", 3), (";", 3)):
        try:
            widths = {len(row) for row in csv.reader(head, delimiter=delimiter)}
        except csv.Error:  # a field has over 131,072 characters
            continue
        if len(widths) == 1 and widths.pop() >= fewest:
            shown = {"\t": "tab"}.get(delimiter, delimiter)
            advice = f"every line has the same number of columns (separated by {shown}); extract the text column first"
            problems.report(path, None, "table instead of text", advice)
            return True
    return False
