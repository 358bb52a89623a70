"""Points by hand from several graders: a sheet for each of them, and nobody overwrites another's points unseen.

    split ─▶ SHEET of ann, SHEET of ben ─▶ filled in with a spreadsheet ─▶ enter ─▶ gradebook
                                                              └─▶ conflicts: what changed since the sheet was written

A part is one exercise of one submission; `manual_points.py` keeps whose each part is and who gave which points. A sheet
has the points and the comment of the moment it was written; where the gradebook has others by now, a row is a conflict
and is not entered. nbgrader's formgrader writes to the same gradebook, and `nbgrader_plugin/formgrader_names.py`
records its graders (`record_formgrader`). Points without a record are listed as formgrader's.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from autograde.common.delimited import read_table
from autograde.common.errors import InputError
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.manual_points import SHARES, Given, ManualPart, Shares, give, parts_of, record
from autograde.grader.book.people import GROUPS
from autograde.grader.exports.tables import plain, table
from autograde.grader.hand_ins.filenames import safe_name
from autograde.grader.reading.template import Template

_COLUMNS = ("grader", "student", "members", "name", "notebook", "exercise", "most", "automatic", "points", "comment",
            "answer", "points before", "comment before")  # fmt: skip
_ENTERED = ("grader", "student", "notebook", "exercise", "points", "comment", "points before", "comment before")
_AND = " / "  # between members of a group: no name of a student has it
_LONGEST_ANSWER = 20_000  # characters; a cell of a spreadsheet takes 32,767
_EMPTY = "-"  # in the column of points: take back the points by hand
FORMGRADER = "formgrader"


def split(parts: Iterable[ManualPart], graders: Sequence[str], shares: Shares, by: str = "student") -> Shares:
    """Gives each part without one of these graders to the grader with the fewest; parts that have one stay theirs.

    by: "student": all parts of a student go to one grader; "exercise": all answers to an exercise. Raises InputError.
    """
    for name in graders:
        if not name or safe_name(name) != name:
            raise InputError(f"expected the name of a grader that can be in the name of a file, got {name!r}")
    if len({name.casefold() for name in graders}) < len(graders) or not graders:
        raise InputError(f"expected graders with different names, got {', '.join(graders) or 'none'}")
    grader_of = dict(shares.grader_of)
    free: dict[tuple, list[ManualPart]] = {}
    for part in parts:
        if grader_of.get(part.key) not in graders:
            free.setdefault((part.student,) if by == "student" else (part.notebook, part.exercise), []).append(part)
    load = Counter(grader_of.values())

    def mixed(group: tuple) -> str:
        """An order that does not follow the alphabet, the same each time."""
        return hashlib.sha256("/".join(group).encode("utf-8", "replace")).hexdigest()

    for group in sorted(free, key=lambda group: (-len(free[group]), mixed(group))):
        grader = min(graders, key=lambda name: load[name])  # of several the first
        grader_of |= {part.key: grader for part in free[group]}
        load[grader] += len(free[group])
    return Shares(grader_of, shares.given)


def sheet(
    grader: str, parts: Iterable[ManualPart], templates: Mapping[str, Template], course: Path, names: Mapping[str, str]
) -> str:
    """The CSV of one grader: a row for each part, with the answer, to be filled in. names: of students."""

    def in_order(part: ManualPart) -> tuple:
        template = templates.get(part.notebook)
        order = [answer.grade_id for answer in template.answers] if template else []
        place = order.index(part.exercise) if part.exercise in order else len(order)
        return part.notebook, place, part.student

    rows = [_COLUMNS]
    for part in sorted(parts, key=in_order):
        state = points_text(part.points), part.comment
        members = _AND.join(part.members) if len(part.members) > 1 else ""
        rows.append((grader, part.student, members, names.get(part.student, ""), part.notebook, part.exercise,
                     part.max_points, points_text(part.automatic), *state, _answer(course, part), *state))  # fmt: skip
    return table(rows)


def _answer(course: Path, part: ManualPart) -> str:
    """The student's text, from the graded notebook that formgrader shows."""
    path = course / "autograded" / part.student / part.assignment / f"{part.notebook}.ipynb"
    if not path.is_file():
        return ""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    ids = {one.get("metadata", {}).get("nbgrader", {}).get("grade_id"): one["source"] for one in cells}
    return "".join(ids.get(part.exercise, ""))[:_LONGEST_ANSWER]


def points_text(points: float | None) -> str:
    """Points as a sheet shows them, with at most six decimals; an empty text for None."""
    return "" if points is None else f"{round(points, 6):.12g}"


# --- enter ---


@dataclass
class Entered:
    """The outcome of entering a sheet: how many parts. conflicts, unread: sentences."""

    entered: int = 0
    same: int = 0
    conflicts: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SheetRow:
    """One row of a sheet. points, before: as text; members: of a group, whose answer it is."""

    grader: str
    student: str
    notebook: str
    exercise: str
    points: str
    comment: str
    points_before: str
    comment_before: str
    members: tuple[str, ...] = ()


def read_sheet(text: str, where: str) -> list[SheetRow]:
    """The rows of a filled sheet. Raises InputError."""
    try:
        lines, _ = read_table(text)
    except InputError as reason:
        raise InputError(f"{where}: {reason}") from None
    header = [title.strip().lower() for title in lines[0]] if lines else []
    missing = [name for name in _ENTERED if name not in header]
    if missing or len(set(header)) < len(header):
        raise InputError(
            f"{where}: expected the columns {', '.join(_COLUMNS)}, each once; missing: {', '.join(missing) or 'none'}. "
            "Fill in a sheet that `autograde split` wrote"
        )
    rows = []
    for line in filter(any, lines[1:]):
        cells = dict.fromkeys(_COLUMNS, "") | dict(zip(header, map(plain, line)))
        members = filter(None, map(str.strip, cells["members"].split(_AND.strip())))
        rows.append(SheetRow(*(cells[name] for name in _ENTERED), tuple(members)))
    return rows


def row_for(
    assignment: str, parts: Iterable[ManualPart], student: str, exercise: str, points: str, comment: str | None,
    grader: str,
) -> SheetRow:  # fmt: skip
    """The row that a sheet would have for one student. comment: None leaves it as it is. Raises InputError."""
    part = next((part for part in parts if (part.student, part.exercise) == (student, exercise)), None)
    if part is None:
        raise InputError(
            f"{assignment}: {student} has no graded part {exercise!r}; `autograde exercises` lists exercises"
        )
    now = plain(part.comment)
    new = now if comment is None else plain(comment)
    return SheetRow(grader, student, part.notebook, exercise, points, new, points_text(part.points), now)


def enter(
    book: Gradebook, assignment: str, templates: Mapping[str, Template], rows: Iterable[SheetRow],
    replace: bool = False, alone: bool = False,
) -> Entered:  # fmt: skip
    """Writes the points and comments of a sheet into the gradebook, and who gave them into the list of graders.

    replace: also where the gradebook has changed since the sheet was written. alone: for the named student only, not
    for the other members of a group.
    """
    done, groups = Entered(), GROUPS.load(book.folder, assignment)
    parts = parts_of(book, assignment, templates, merged=not alone)
    known = {(student, part.notebook, part.exercise): part for part in parts for student in part.members}
    for row in rows:
        group = groups.of(row.student)
        members = [row.student, *(one for one in row.members if group and groups.of(one) == group)]
        found = [part for one in members if (part := known.get((one, row.notebook, row.exercise)))]
        if not found:
            done.unread.append(
                f"{row.student}, {row.exercise}: no such part in {assignment}; leave the first columns as they are"
            )
            continue
        for part in {part.key: part for part in found}.values():
            _enter(done, book, part, row, replace, alone)
    return done


def _enter(done: Entered, book: Gradebook, part: ManualPart, row: SheetRow, replace: bool, alone: bool) -> None:
    """Writes a row to one part; a group's row is for several parts once one member's points were changed."""
    points = _points(row, part)
    if isinstance(points, str):
        done.unread.append(points)
        return
    new, now = (points, row.comment), (_number(points_text(part.points)), plain(part.comment))  # as sheets have them
    before = (_number(row.points_before), row.comment_before)
    confirmed = alone and part.waits and points is not None
    if new in (now, before) and not confirmed:
        done.same += 1
    elif now != before and not replace:
        last = _last(part, SHARES.load(book.folder, part.assignment).last())
        who = last.grader if last and last.value == _value(part) else FORMGRADER
        done.conflicts.append(f"{part.title}: since the sheet was written {who} gave "
                              f"{said(part.points, part.comment)}; the sheet says {said(*new)}")  # fmt: skip
    else:
        given = [Given(key, row.grader, _now(), *new, part.cell, alone) for key in part.keys]
        if give(book, part, *new, partial(record, book.folder, part.assignment, given)):
            done.entered += 1
        else:
            done.conflicts.append(f"{part.title}: it was changed at this very moment; enter the sheet again")


def _value(part: ManualPart) -> tuple[float | None, str]:
    """Points and comment of a part, as `Given.value`."""
    return part.points, plain(part.comment)


def _now() -> str:
    return f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC"


def record_formgrader(course: Path, assignment: str, parts: Iterable[ManualPart], grader: str) -> None:
    """Records what a grader wrote in formgrader. parts: as they are since. Only for the one writer of the gradebook."""
    last, given = SHARES.load(course, assignment).last(), []
    for part in parts:
        before, value = last.get(part.key), _value(part)
        if value != (before.value if before else (None, "")) or part.extra:
            alone = before is not None and before.alone
            given.append(Given(part.key, grader, _now(), *value, part.cell, alone, FORMGRADER))
    record(course, assignment, given)


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ".")) if text else None
    except ValueError:
        return None


def _points(row: SheetRow, part: ManualPart) -> float | None | str:
    """The points of a row, or a sentence about what is wrong with them."""
    if row.points in ("", _EMPTY):
        forgotten = row.points == "" and row.points_before != ""
        return (
            f"{part.title}: expected points, or {_EMPTY} to take back those by hand, got nothing" if forgotten else None
        )
    points = _number(row.points)
    if points is None or not 0 <= points <= part.max_points:
        return f"{part.title}: expected a number from 0 to {part.max_points:g}, got {row.points!r}"
    return points


def said(points: float | None, comment: str) -> str:
    """Points and comment in a sentence: `2 points, "State the shape."`"""
    number = "no points by hand" if points is None else f"{points:g} point{'' if points == 1 else 's'}"
    short = comment if len(comment) <= 60 else f"{comment[:60]}…"
    return f'{number}, "{short}"' if comment else number


# --- who graded what ---


@dataclass(frozen=True)
class Progress:
    """One grader's parts. given: by this grader; waiting: parts of this grader's share without points by hand."""

    grader: str
    share: int
    given: int
    waiting: int


def progress(parts: Sequence[ManualPart], shares: Shares) -> tuple[list[Progress], list[str]]:
    """Each grader's progress, and sentences about points that replaced another's unseen or do not fit the part."""
    last, known = shares.last(), {part.key: part for part in parts}
    history: dict[str, list[Given]] = {}
    for one in shares.given:
        history.setdefault(one.key, []).append(one)
    given: Counter[str] = Counter()
    look = []
    for part in known.values():
        entry = _last(part, last)
        same = entry and entry.value == _value(part)
        if part.points is not None or part.comment or part.extra:
            given[entry.grader if same else FORMGRADER] += 1
        if same:
            look += _unseen(part, history[entry.key])
        elif entry:
            look.append(f"{part.title}: {entry.grader} gave {said(*entry.value)}; "
                        f"now {said(part.points, part.comment)}")  # fmt: skip
        if part.points is not None and not 0 <= part.points <= part.max_points:
            look.append(f"{part.title}: {part.points:g} points by hand; the part has 0 to {part.max_points:g}")
    share = Counter(grader for key, grader in shares.grader_of.items() if key in known)
    waiting = Counter(shares.grader_of.get(key, "nobody") for key, part in known.items() if part.waits)
    names = sorted({*share, *given, *waiting} - {FORMGRADER, "nobody"})
    names += [name for name in (FORMGRADER, "nobody") if given[name] or waiting[name]]
    return [Progress(name, share[name], given[name], waiting[name]) for name in names], look


def _last(part: ManualPart, last: Mapping[str, Given]) -> Given | None:
    """The last entry about a part: of a group's members, one that fits the points they have now."""
    entries = [last[key] for key in part.keys if key in last]
    fitting = [entry for entry in entries if entry.value == _value(part)]
    return next(iter(fitting or entries), None)


def _unseen(part: ManualPart, history: Sequence[Given]) -> list[str]:
    """A sentence where a grader replaced another's points in formgrader, which does not ask. history: oldest first."""
    now = history[-1]
    others = [one for one in history if one.grader != now.grader and one.value != (None, "")]
    if now.place != FORMGRADER or not others or others[-1].value == now.value:
        return []
    before = others[-1]
    return [f"{part.title}: {before.grader} gave {said(*before.value)}; {now.grader} then gave {said(*now.value)} "
            f"in formgrader, {now.time}"]  # fmt: skip
