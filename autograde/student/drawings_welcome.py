"""The drawing of notebook 00: what is built, in order, as boxes with arrows between them."""

import textwrap

from autograde.student.pictures import _figure, _show

_INK, _FILL = "#1f5fa8", "#eaf1f9"


def course_map(rows: list[list[tuple[str, str]]], *, alt: str) -> None:
    """Boxes in rows, read from left to right and from top to bottom; an arrow leads from each to the next.

    rows: for each row its boxes as (title, line below it)
    """
    widest = max(len(row) for row in rows)
    figure, axes = _figure(2.9 * widest, 1.25 * len(rows), 1, 1)
    axis = axes.flat[0]
    xs = {}
    for depth, row in enumerate(rows):
        for column, (title, text) in enumerate(row):
            x = column + (widest - len(row)) / 2
            xs[depth, column] = x
            _box(axis, x, depth, title, text)
    order = list(xs)
    for (depth, column), (next_depth, next_column) in zip(order, order[1:]):
        start, end = xs[depth, column], xs[next_depth, next_column]
        if depth == next_depth:
            _arrow(axis, (start + 0.42, depth), (end - 0.42, depth))
        else:
            _arrow(axis, (start, depth + 0.3), (end, next_depth - 0.3))
    axis.set(xlim=(-0.5, widest - 0.5), ylim=(len(rows) - 0.6, -0.4))
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
