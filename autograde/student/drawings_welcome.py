"""The drawing of notebook 00: what is built, in order, as boxes with arrows between them."""

import textwrap

from autograde.student.pictures import _figure, _show

_INK, _FILL = "#1f5fa8", "#eaf1f9"


def course_map(rows: list[list[tuple[str, str]]], free: list[tuple[str, str]] | None = None, *, alt: str) -> None:
    """Boxes in rows, read from left to right and from top to bottom; an arrow leads from each to the next.

    rows: for each row its boxes as (title, line below it). free: boxes below them without arrows, in any order.
    """
    free, widest = free or [], max(len(row) for row in rows)
    together = -(-len(free) // max(1, -(-len(free) // widest)))  # equally many in each row below
    drawn = [*rows, *(free[first : first + together] for first in range(0, len(free), together or 1))]
    figure, axes = _figure(2.9 * widest, 1.25 * len(drawn), 1, 1)
    axis = axes.flat[0]
    xs = {}
    for depth, row in enumerate(drawn):
        for column, (title, text) in enumerate(row):
            x = column + (widest - len(row)) / 2
            xs[depth, column] = x
            _box(axis, x, depth, title, text)
    order = [place for place in xs if place[0] < len(rows)]
    for (depth, column), (next_depth, next_column) in zip(order, order[1:]):
        start, end = xs[depth, column], xs[next_depth, next_column]
        if depth == next_depth:
            _arrow(axis, (start + 0.42, depth), (end - 0.42, depth))
        else:
            _arrow(axis, (start, depth + 0.3), (end, next_depth - 0.3))
    axis.set(xlim=(-0.5, widest - 0.5), ylim=(len(drawn) - 0.6, -0.4))
    axis.set_axis_off()
    _show(figure, alt)


def _box(axis, x, y, title, text):
    from matplotlib.patches import FancyBboxPatch

    box = FancyBboxPatch((x - 0.38, y - 0.24), 0.76, 0.48, boxstyle="round,pad=0.03", facecolor=_FILL, edgecolor=_INK)
    axis.add_patch(box)
    axis.text(x, y - 0.1, title, ha="center", va="center", fontsize=13, fontweight="bold")
    axis.text(x, y + 0.12, textwrap.fill(text, 26), ha="center", va="center", fontsize=11)


def _arrow(axis, start, end):
    axis.annotate("", xy=end, xytext=start, arrowprops={"arrowstyle": "->", "color": _INK, "linewidth": 1.5})


def steps_of_rows(steps: dict[str, list[str]], end: tuple[str, str], *, alt: str) -> None:
    """Boxes in columns: each row goes from step to step, and all rows end in one box.

    steps: title of a column → the text of each row's box. end: title and text of the last box.
    """
    rows = len(next(iter(steps.values())))
    widths = [0.11 * max(map(len, [title, *texts])) + 0.25 for title, texts in [*steps.items(), (end[0], [end[1]])]]
    centres = [sum(widths[:column]) + 0.45 * column + widths[column] / 2 for column in range(len(widths))]
    figure, axes = _figure(sum(widths) + 0.45 * len(widths), 0.6 * rows + 0.6, 1, 1)
    axis = axes.flat[0]
    box = {"boxstyle": "round,pad=0.35", "facecolor": _FILL, "edgecolor": _INK}
    for column, (title, texts) in enumerate([*steps.items(), (end[0], [end[1]])]):
        axis.text(centres[column], -0.75, title, ha="center", va="center", fontweight="bold")
        for row, text in enumerate(texts):
            y = row if len(texts) == rows else (rows - 1) / 2
            axis.text(centres[column], y, text, ha="center", va="center", family="monospace", bbox=box)
    for row in range(rows):
        for column in range(len(steps)):
            to = row if column + 1 < len(steps) else (rows - 1) / 2
            start = centres[column] + widths[column] / 2
            _arrow(axis, (start + 0.02, row), (centres[column + 1] - widths[column + 1] / 2 - 0.02, to))
    axis.set(xlim=(-0.1, centres[-1] + widths[-1] / 2 + 0.1), ylim=(rows - 0.5, -1.1))
    axis.set_axis_off()
    _show(figure, alt)
