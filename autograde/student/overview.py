"""`progress()`: the exercises of the course with their points and states."""

import html
from itertools import groupby

from autograde.rendering import MARKS, points_text
from autograde.student import plans, progress_file

_WIDTH = 20


class Overview:
    """The overview; shown as text or HTML by the notebook. `rows`: (facts of an exercise, points reached, status).

    In HTML, finished notebooks and those without attempts are folded, one line each; the last attempted one is open.
    """

    def __init__(self, rows: list[tuple[dict, float, str]]):
        self.rows = rows

    def __repr__(self):
        lines = []
        for notebook, rows in self._by_notebook():
            reached, possible = _sums(rows)
            lines.append(
                f"{notebook:<24} {_bar(reached, possible)} {points_text(reached)} of {points_text(possible)} points"
            )
            for facts, points, status in rows:
                share = f"{points_text(points)}/{points_text(facts['points'])}"
                lines.append(f"  {MARKS[status]} {facts['number']:<5} {facts['title']:<36} {share:>6}  {status}")
        lines.append(_line("the whole course", *_sums(self.rows)))
        return "\n".join(lines)

    def _repr_html_(self):
        parts = []
        last = max((notebook for notebook, rows in self._by_notebook() if _begun(rows)), default=None)  # 00 … 08
        for notebook, rows in self._by_notebook():
            reached, possible = _sums(rows)
            unfolded = notebook == last or (_begun(rows) and reached < possible)
            body = "".join(_html_row(*row) for row in rows)
            parts.append(
                f"<details{' open' if unfolded else ''}><summary>{_heading(notebook, reached, possible)}</summary>"
                f'<table style="color:inherit;background:transparent"><tbody>{body}</tbody></table></details>'
            )
        parts.append(f"<p>{_heading('the whole course', *_sums(self.rows))}</p>")
        return f'<div role="group" aria-label="Progress in the course" style="color:inherit">{"".join(parts)}</div>'

    def _by_notebook(self):
        for notebook, rows in groupby(self.rows, key=lambda row: row[0]["notebook"]):
            yield notebook, list(rows)


def _begun(rows):
    return any(status != "not attempted" for _, _, status in rows)


def _sums(rows):
    return sum(points for _, points, _ in rows), sum(facts["points"] for facts, _, _ in rows)


def _line(name, reached, possible):
    return f"{name:<24} {_bar(reached, possible)} {points_text(reached)} of {points_text(possible)} points"


def _bar(reached, possible):
    filled = int(_WIDTH * reached / possible) if possible else 0
    return "█" * filled + "·" * (_WIDTH - filled)


def _heading(name, reached, possible):
    score = f"{points_text(reached)} of {points_text(possible)} points"
    return (
        f"<strong>{html.escape(name)}: {score}</strong> "
        f'<progress value="{points_text(reached)}" max="{points_text(possible)}" aria-label="{score}"></progress>'
    )


def _html_row(facts, points, status):
    cells = (MARKS[status], facts["number"], facts["title"],
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
    return Overview(rows)
