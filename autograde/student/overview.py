"""`progress()`: the exercises of the course with their points and states."""

import html
from itertools import groupby

from autograde.judging.rendering import MARKS, points_text
from autograde.student import plans, progress_file

_WIDTH = 20
_NAME_WIDTH = 34
_HANDED_IN = "when handed in"  # the state of a training run: only the grader can give its points
_MARKS = MARKS | {_HANDED_IN: "○"}


class Overview:
    """The overview, as text or HTML. `rows`: (facts of an exercise, points reached, status). In HTML, finished
    notebooks and those without attempts are folded, one line each; the last attempted one is open."""

    def __init__(self, rows: list[tuple[dict, float, str]]):
        self.rows = rows

    def __repr__(self):
        lines = []
        width = max([_NAME_WIDTH, *(len(_title(rows)) for _, rows in self._by_notebook())])
        for _, rows in self._by_notebook():
            reached, possible = _sums(rows)
            lines.append(_line(_title(rows), reached, possible, width))
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
            body = "".join(_html_row(*row) for row in rows)
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
    """The notebook's own title, such as "03 · Attention"."""
    return rows[0][0].get("notebook_title", rows[0][0]["notebook"])


def _sums(rows):
    return sum(points for _, points, _ in rows), sum(facts["points"] for facts, _, _ in rows)


def _line(name, reached, possible, width):
    return f"{name:<{width}} {_bar(reached, possible)} {points_text(reached)} of {points_text(possible)} points"


def _bar(reached, possible):
    filled = int(_WIDTH * reached / possible) if possible else 0
    return "█" * filled + "·" * (_WIDTH - filled)


def _heading(name, reached, possible):
    score = f"{points_text(reached)} of {points_text(possible)} points"
    return (
        f'<strong style="display:inline-block;min-width:32em">{html.escape(name)}: {score}</strong> '
        f'<progress value="{points_text(reached)}" max="{points_text(possible)}" aria-label="{score}"></progress>'
    )


def _html_row(facts, points, status):
    cells = (_MARKS[status], facts["number"], facts["title"],
             f"{points_text(points)} / {points_text(facts['points'])}", status)  # fmt: skip
    row = "".join(f'<td style="text-align:left">{html.escape(str(cell))}</td>' for cell in cells)
    return f'<tr style="background:transparent">{row}</tr>'


def progress() -> Overview:
    """Your points and the remaining exercises, notebook by notebook, from the checks on this machine."""
    entries = progress_file.load()
    rows = []
    for facts in plans.index():
        entry = entries.get(facts["id"], {})
        status = entry.get("status") if entry.get("status") in MARKS else "not attempted"
        points = entry.get("points") if isinstance(entry.get("points"), (int, float)) else 0.0
        rows.append((facts, min(max(points, 0.0), facts["points"]), status))
    rows += [(facts, 0.0, _HANDED_IN) for facts in plans.runs()]
    rows.sort(key=lambda row: row[0]["notebook"])  # the order within a notebook stays
    return Overview(rows)
