"""The files in which a course keeps what it knows beside the gradebook: all are loaded, saved and forgotten in one way.

    policy = POLICY.load(course)                          # the usual one where none was set
    GROUPS.save(groups, course, "ps3")                    # whole or not at all
    HAND_INS.load_all(course, "ps3")                      # by student, without files that are damaged

A damaged file concerns only those whose facts it holds: what is loaded for a whole class leaves it out. `forget.py`
has the list of all tables.
"""

import functools
import glob
import json
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograde.common.errors import AutogradeError
from bertlab.common.files import write_text


class StoreError(AutogradeError, ValueError):
    """A file of a course that cannot be read; with its path, the reason and what to do."""


@dataclass(frozen=True)
class Table:
    """One kind of file. where: its path in the course, with {} for each key: an assignment, a student.

    holds, mend: for the sentence about a damaged file; parse, text: from its text to a value and back, by default a
    dataclass; empty: makes the value where there is no file; without: (value, student) → the value without what is
    about this student.
    """

    where: str
    holds: str
    mend: str
    parse: Callable[[str], Any]
    empty: Callable[[], Any]
    text: Callable[[Any], str] = lambda value: json.dumps(asdict(value), indent=1, ensure_ascii=False) + "\n"
    without: Callable[[Any, str], Any] | None = None

    def path(self, course: str | Path, *keys: str) -> Path:
        return Path(course, self.where.format(*keys))

    def load(self, course: str | Path, *keys: str) -> Any:
        """The value of a file. Raises StoreError if it is damaged."""
        path = self.path(course, *keys)
        if not path.is_file():
            return self.empty()
        try:
            return self.parse(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as reason:
            raise StoreError(f"{path}: expected {self.holds} ({reason}); {self.mend}") from None

    def load_or_empty(self, course: str | Path, *keys: str) -> Any:
        """As `load`; of a damaged file the empty value, with a sentence for the instructor: the others go on."""
        try:
            return self.load(course, *keys)
        except StoreError as reason:
            _tell(str(reason))
            return self.empty()

    def load_all(self, course: str | Path, *keys: str) -> dict[str, Any]:
        """All files that differ in the last key only, by this key; without those that are damaged."""
        values = {}
        for *_, last in self.keys(course, *keys):
            value = self.load_or_empty(course, *keys, last)
            values |= {last: value} if value != self.empty() else {}
        return values

    def keys(self, course: str | Path, *first: str) -> Iterator[tuple[str, ...]]:
        """The keys of all files that are there. first: only files with these first keys."""
        pattern = re.compile("([^/]+)".join(map(re.escape, self.where.split("{}"))))
        rest = ["*"] * (self.where.count("{}") - len(first))
        for path in sorted(Path(course).glob(self.where.format(*map(glob.escape, first), *rest))):
            yield pattern.fullmatch(path.relative_to(course).as_posix()).groups()

    def save(self, value: Any, course: str | Path, *keys: str) -> None:
        """Writes a file, whole or not at all. A damaged one is kept as NAME.damaged: somebody may mend it."""
        path = self.path(course, *keys)
        try:
            self.load(course, *keys)
        except StoreError:
            path.rename(path.with_suffix(".damaged"))
        path.parent.mkdir(mode=0o700 if self.where.startswith(".") else 0o777, parents=True, exist_ok=True)
        write_text(path, self.text(value))


@functools.cache
def _tell(sentence: str) -> None:
    """A sentence about a damaged file, once."""
    print(sentence, file=sys.stderr)
