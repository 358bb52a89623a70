"""The meaning of a written label: a class by its name, a class by its index, or a real number.

Labels are *declared* (by a published task, by a data set of the hub, by the caller) or *found* in the training rows.
The index of a class may replace its name only if the classes are declared and no name is itself a number:
if the found labels are the stars 1, 2, 4, 5, a 3 is an unknown label, not the fourth.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence

from bertlab.common.errors import DataError, asked
from bertlab.data.documents_lines import Problems, RecordError
from bertlab.data.tasks.rows import Row, TaggingRow

_WHOLE = re.compile(r"([+-]?[0-9]+)(\.0*)?")
_MAX_SHOWN = 20


def find_classes(found: Sequence[tuple[str, object]], problems: Problems) -> tuple[str, ...]:
    """The classes among some rows' labels, each label with its location; () for regression.

    Whole numbers (also written as 1.0) are classes in the order of their values; other numbers are
    regression; all other labels are classes in alphabetical order. Raises DataError if most labels are numbers and
    one is not; if records are skipped, those labels are not classes, so their rows are left out.
    """
    counts = Counter(str(value) for _, value in found)
    numbers = {name for name in counts if is_number(name)}
    # Many rows may have "NA": most labels, or most of the distinct labels, are numbers.
    are_most = 2 * len(numbers) > len(counts) or 2 * sum(counts[name] for name in numbers) > counts.total()
    if len(numbers) < len(counts) and not are_most:
        return tuple(sorted(counts))
    if len(numbers) < len(counts) and problems.policy == "stop":
        where, value = next((where, value) for where, value in found if str(value) not in numbers)
        skipping, naming = asked("--skip-errors", "on_error='skip'"), asked("--labels a,b", "labels=('a', 'b')")
        raise DataError(
            f"{where}: expected a number like most labels, got {value!r}; correct it, or skip such records "
            f"({skipping}), or name all classes ({naming})"
        )
    names = {_whole(name) for name in numbers}
    if {"-1", "0"} <= names:
        where = next(where for where, value in found if _whole(value) == "-1")
        problems.notes.append(
            f"{where}: the label -1 is read as a class like 0; where it marks rows without a label, delete these rows"
        )
    return () if None in names else tuple(sorted(names, key=lambda name: (int(name), name)))


def sort_tags(tags: set[str]) -> tuple[str, ...]:
    """Tags in their order: "O" first, so that the index 0 means "no entity"; whole numbers by their values."""
    if all(map(is_index, tags)):
        return tuple(sorted(tags, key=int))
    return tuple(sorted(tags, key=lambda tag: (tag != "O", tag)))


def declared_labels(labels: Sequence[str] | None) -> tuple[str, ...] | None:
    """The names that a caller gives; () means regression, None means that the labels are read from the data."""
    if labels is None:
        return None
    if isinstance(labels, str):
        raise DataError(f"labels must be several names, such as ('good', 'bad'), not the text {labels!r}")
    names = tuple(str(name) for name in labels)
    if not all(name.strip() for name in names):
        raise DataError(f"one of the labels {', '.join(map(repr, names))} is empty")
    if len(set(names)) < len(names):
        raise DataError(f"expected each label once, got {', '.join(names)}")
    if len(names) == 1:
        raise DataError(f"the only label is {names[0]!r}; expected two classes or more")
    return names


def index_of(value, labels: tuple[str, ...], found: bool = False) -> int:
    """A label's index, from its name or, among declared labels, from the index. Raises RecordError if there is none."""
    for name in (str(value), _whole(value)):
        if name in labels:
            return labels.index(name)
    if not found and is_index(value) and int(value) < len(labels) and not any(map(is_whole, labels)):
        return int(value)
    source = f", which the training rows have; {asked('--labels', 'labels=')} names others" if found else ""
    raise RecordError(f"unknown label {value!r}; expected one of {listed(labels)}{source}")


def listed(labels: Sequence[str]) -> str:
    """Labels separated by commas; only the first ones if there are many."""
    return ", ".join(labels[:_MAX_SHOWN]) + (f" … ({len(labels)})" if len(labels) > _MAX_SHOWN else "")


def require_two_classes(name: str, labels: Sequence[str], rows: Sequence[Row]) -> None:
    """Raises DataError if all rows are of one class, so that a model cannot learn."""
    tagging = any(isinstance(row, TaggingRow) for row in rows)
    present = {tag for row in rows for tag in row.tags or ()} if tagging else {row.label for row in rows}
    if len(present) == 1:
        (only,) = present
        where = "every word of the training rows has the tag" if tagging else "every training row has the label"
        raise DataError(f"{name}: {where} {labels[only]!r}; expected two classes or more")


def is_index(value) -> bool:
    """Whether a value is a whole number from 0, as a number or in ASCII digits (True and 1.0 are not)."""
    if isinstance(value, str):
        return value.isascii() and value.isdigit()
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_number(value) -> bool:
    """Whether a value is, or spells, a finite number."""
    try:
        return not isinstance(value, bool) and "_" not in str(value) and math.isfinite(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def is_whole(value) -> bool:
    """Whether a value is, or spells, a whole number: 1, "1", 1.0, "-1"."""
    return _whole(value) is not None


def _whole(value) -> str | None:
    """A whole number's name: "1" for 1, "1" and 1.0 (so tables write whole numbers beside an empty cell), or None."""
    match = _WHOLE.fullmatch(str(value)) if is_number(value) else None
    return match and (str(int(match[1])) if match[2] else match[1])
