"""Drawings of notebook 02: a sentence as a sum of three vectors per token, and large tables.

Like `pictures`: drawn from a student's own tensors, readable without colour, each with a text.
"""

import numpy as np

from autograde.student.pictures import _figure, _show

_FILLS = (("#1f5fa8", ""), ("#f3c9a8", "//"), ("#dddddd", ".."))  # per row: colour and hatching


def sum_of_rows(rows: dict, *, alt: str) -> None:
    """Rows of labelled boxes with a plus between them: the sum in each column.

    rows: name of a row → its labels, one per column. The first row names the columns.
    """
    (first, pieces), *others = rows.items()
    figure, axes = _figure(min(15.0, 0.95 * len(pieces) + 2.2), 0.78 * len(rows) + 0.4, 1, 1)
    axis = axes.flat[0]
    for column, piece in enumerate(pieces):
        axis.text(column, 0, piece, ha="center", va="center", fontsize=12, fontweight="bold")
        for depth, (_, labels) in enumerate(others, start=1):
            _box(axis, column, depth, labels[column], *_FILLS[(depth - 1) % len(_FILLS)])
            if depth > 1:
                axis.text(column, depth - 0.5, "+", ha="center", va="center", fontsize=13)
    for depth, name in enumerate(rows):
        axis.text(-0.75, depth, name, ha="right", va="center", fontsize=12)
    axis.set(xlim=(-2.6, len(pieces) - 0.4), ylim=(len(rows) - 0.55, -0.5))
    axis.set_axis_off()
    _show(figure, alt)


def _box(axis, column, depth, label, colour, hatch):
    from matplotlib.patches import Rectangle

    axis.add_patch(
        Rectangle((column - 0.45, depth - 0.3), 0.9, 0.6, facecolor=colour, edgecolor="white", hatch=hatch, alpha=0.9)
    )
    ink = "white" if not hatch else "black"
    back = None if not hatch else {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
    axis.text(column, depth, label, ha="center", va="center", fontsize=11, color=ink, bbox=back)


def tables(matrices, titles=(), rows="", columns="", *, alt: str) -> None:
    """Large matrices side by side, a shade per number and a scale beside each; light is small, dark is large.

    rows, columns: what the axes count.
    """
    matrices = [np.asarray(matrix, "float64") for matrix in matrices]
    figure, axes = _figure(5.2 * len(matrices), 4.4, 1, len(matrices))
    for index, (axis, matrix) in enumerate(zip(axes.flat, matrices)):
        shown = axis.imshow(matrix, cmap="Blues", aspect="auto", interpolation="nearest")
        axis.set(title=titles[index] if index < len(titles) else "", xlabel=columns, ylabel=rows)
        figure.colorbar(shown, ax=axis, shrink=0.9)
    _show(figure, alt)
