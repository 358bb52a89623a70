"""The student's progress: one small JSON file in the course's home (see home.py), and `progress()`, which shows it.

    {"version": 1, "exercises": {"scores": {"points": 2, "status": "partly", "failures": 2, "last": "digest"}}}

`failures` counts attempts with *different* code since the exercise was last passed. Grades come from the grader.
"""

import contextlib
import hashlib
import html
import json
import os
from itertools import groupby
from pathlib import Path

from autograde.judging.verdict import MARKS, points_text
from autograde.student import home, plans
from bertlab.common.errors import DataError
from bertlab.common.files import write_json

FILE = home.PROGRESS
_WIDTH = 20
_NAME_WIDTH = 34
_HANDED_IN = "when handed in"  # the state of a training run: only the grader can give its points
_MARKS = MARKS | {_HANDED_IN: "○"}


def load(path: Path | None = None) -> dict:
    """The entries by exercise id; empty without a file. A damaged file is renamed to `….damaged`."""
    path = path or _own_file()
    with contextlib.suppress(OSError):
        try:
            return parse(path.read_bytes())
        except ValueError:
            os.replace(path, f"{path}.damaged")
    return {}


def has_passed(exercise: str) -> bool:
    """Whether an exercise passed its last check."""
    return load().get(exercise, {}).get("status") == "passed"


def parse(content: bytes) -> dict:
    """The entries in a progress file's content. Raises ValueError."""
    try:
        entries = json.loads(content.decode("utf-8"))["exercises"]
        return {name: entry for name, entry in entries.items() if isinstance(entry, dict)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"no record of progress: {error}") from None


def digest_of(source: str) -> str:
    """The digest by which a changed answer is recognised."""
    return hashlib.sha256(source.encode("utf-8", "replace")).hexdigest()[:16]


def record(exercise: str, status: str, points: float, source: str) -> int:
    """Records the outcome of a check and returns how many different attempts have failed since the last pass. In a
    folder that cannot be written, hints do not progress, but the check still works."""
    path = _own_file()
    with home.locked(path.parent):
        entries = load(path)
        entry = entries.get(exercise, {})
        digest = digest_of(source)
        failures = entry.get("failures") if isinstance(entry.get("failures"), int) else 0
        if status == "passed":
            failures = 0
        elif status not in ("not attempted", "missing") and (not source or digest != entry.get("last")):
            failures += 1
        hints = {name: entry[name] for name in ("hint", "hint_after") if name in entry and failures}
        entries[exercise] = {"points": points, "status": status, "failures": failures, "last": digest} | hints
        _write(path, entries)
    return failures


def next_hint(exercise: str, failures: int, max_hints: int) -> int:
    """Which hint is due, from 1: the first, after another failing attempt the one after the last that was shown."""
    path = _own_file()
    with home.locked(path.parent):
        entries = load(path)
        entry = entries.get(exercise, {})
        shown = entry.get("hint") if isinstance(entry.get("hint"), int) else 0
        if entry.get("hint_after") != failures or not shown:
            shown = min(shown + 1, max_hints)
        entries[exercise] = entry | {"hint": shown, "hint_after": failures}
        _write(path, entries)
    return shown


def merge(others: dict, path: Path) -> None:
    """Adds other entries to this file, where they have more points than the ones there."""
    with home.locked(path.parent):
        entries = load(path)
        better = {name: entry for name, entry in others.items() if _points(entry) > _points(entries.get(name, {}))}
        _write(path, entries | better)


def _points(entry: dict) -> float:
    points = entry.get("points")
    return points if isinstance(points, (int, float)) else -1.0


def _own_file() -> Path:
    """The file in the home. One in the current folder, from before there was a home, is moved there."""
    path, old = home.find() / FILE, Path.cwd() / FILE
    if old != path and old.is_file():
        with contextlib.suppress(OSError):
            merge(load(old), path)
            os.replace(old, f"{old}.moved")
    return path


def _write(path: Path, entries: dict) -> None:
    with contextlib.suppress(OSError, DataError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, {"version": 1, "exercises": entries})


# --- the overview ---


class Overview:
    """The overview, as text or HTML. `rows`: (facts of an exercise, points reached, status). In HTML, finished
    notebooks and those without attempts are folded, one line each; the last attempted one is open."""

    def __init__(self, rows: list[tuple[dict, float, str]]):
        self.rows = rows

    def __repr__(self):
        lines = []
        width = max([_NAME_WIDTH, *(len(_title(rows)) for _, rows in self._by_notebook())])
        for _, rows in self._by_notebook():
            lines.append(_line(_title(rows), *_sums(rows), width))
            for facts, points, status in rows:
                share = f"{points_text(points)}/{points_text(facts['points'])}"
                lines.append(f"  {_MARKS[status]} {facts['number']:<5} {facts['title']:<42} {share:>6}  {status}")
        lines.append(_line("the whole course", *_sums(self.rows), width))
        return "\n".join(lines)

    def _repr_html_(self):
        parts = []
        last = max((notebook for notebook, rows in self._by_notebook() if _begun(rows)), default=None)  # 00 … 08
        for notebook, rows in self._by_notebook():
            reached, possible = _sums(rows)
            unfolded = notebook == last or (_begun(rows) and reached < possible)
            body = ""
            for facts, points, status in rows:
                share = f"{points_text(points)} / {points_text(facts['points'])}"
                cells = _MARKS[status], facts["number"], facts["title"], share, status
                row = "".join(f'<td style="text-align:left">{html.escape(str(cell))}</td>' for cell in cells)
                body += f'<tr style="background:transparent">{row}</tr>'
            parts.append(
                f"<details{' open' if unfolded else ''}><summary>{_heading(_title(rows), reached, possible)}</summary>"
                f'<table style="color:inherit;background:transparent"><tbody>{body}</tbody></table></details>'
            )
        parts.append(f"<p>{_heading('the whole course', *_sums(self.rows))}</p>")
        return f'<div role="group" aria-label="Progress in the course" style="color:inherit">{"".join(parts)}</div>'

    def _by_notebook(self):
        for notebook, rows in groupby(self.rows, key=lambda row: row[0]["notebook"]):
            yield notebook, list(rows)


def _begun(rows):
    return any(status not in ("not attempted", _HANDED_IN) for _, _, status in rows)


def _title(rows) -> str:
    return rows[0][0].get("notebook_title", rows[0][0]["notebook"])


def _sums(rows):
    return sum(points for _, points, _ in rows), sum(facts["points"] for facts, _, _ in rows)


def _line(name, reached, possible, width):
    filled = int(_WIDTH * reached / possible) if possible else 0
    bar = "█" * filled + "·" * (_WIDTH - filled)
    return f"{name:<{width}} {bar} {points_text(reached)} of {points_text(possible)} points"


def _heading(name, reached, possible):
    score = f"{points_text(reached)} of {points_text(possible)} points"
    return (
        f'<strong style="display:inline-block;min-width:32em">{html.escape(name)}: {score}</strong> '
        f'<progress value="{points_text(reached)}" max="{points_text(possible)}" aria-label="{score}"></progress>'
    )


def progress() -> Overview:
    """Your points and the remaining exercises, notebook by notebook, from the checks on this machine."""
    entries = load()
    rows = []
    for facts in plans.index():
        entry = entries.get(facts["id"], {})
        status = entry.get("status") if entry.get("status") in MARKS else "not attempted"
        points = entry.get("points") if isinstance(entry.get("points"), (int, float)) else 0.0
        rows.append((facts, min(max(points, 0.0), facts["points"]), status))
    rows += [(facts, 0.0, _HANDED_IN) for facts in plans.runs()]
    rows.sort(key=lambda row: row[0]["notebook"])  # the order within a notebook stays
    return Overview(rows)
