"""Drawings of pre-training data: tokens as boxes that show how they were masked, and bars side by side.

As in `pictures`: each shows its picture with a text, and tells its parts apart by more than colour.
"""

import numpy as np

from autograde.student.pictures import _figure, _show

_BOXES = {  # kind of token → face, edge, width of the edge, dash, `hatch`
    "": ("white", "#b0b0b0", 0.8, "-", None),
    "masked": ("#1f3a5f", "#1f3a5f", 1.0, "-", None),
    "another": ("#f6d9b8", "#8a4b08", 1.6, "-", "///"),
    "unchanged": ("white", "#1f5fa8", 2.0, "--", None),
    "special": ("#e4e4e4", "#9a9a9a", 0.8, "-", None),
}
_BARS = (("#1f5fa8", None), ("#f0b27a", "///"), ("#9a9a9a", "..."))


def token_boxes(rows, titles=(), *, alt: str) -> None:
    """Rows of tokens as boxes; below each token is how it was masked.

    rows: for each row a list of (token, kind); kind: "" (not chosen), "masked", "another", "unchanged" or "special".
    """
    widest = max(sum(_width(token) for token, _ in row) for row in rows)
    figure, axes = _figure(min(15.0, 0.1 * widest + 0.6), 0.95 * len(rows) + 0.1, len(rows), 1)
    for index, (axis, row) in enumerate(zip(axes.flat, rows)):
        axis.set(xlim=(0, widest), ylim=(0, 1))
        axis.set_axis_off()
        axis.set_title(titles[index] if index < len(titles) else "", loc="left")
        left = 0.0
        for token, kind in row:
            _box(axis, left, token, kind)
            left += _width(token)
    _show(figure, alt)


def _width(token):
    return max(len(token), 4) + 2.2


def _box(axis, left, token, kind):
    from matplotlib.patches import Rectangle

    face, edge, thick, dash, hatch = _BOXES[kind]
    size = _width(token) - 0.6
    axis.add_patch(Rectangle((left, 0.38), size, 0.5, facecolor=face, edgecolor=edge, linewidth=thick, linestyle=dash))
    if hatch:
        axis.add_patch(Rectangle((left, 0.38), size, 0.09, facecolor="none", edgecolor=edge, linewidth=0, hatch=hatch))
    middle = left + size / 2
    axis.text(
        middle, 0.64, token, ha="center", va="center", fontsize=11, color="white" if kind == "masked" else "black"
    )
    axis.text(middle, 0.16, "" if kind == "special" else kind, ha="center", va="center", fontsize=9, color="#404040")


def bars(labels, groups: dict, title="", x="", y="", numbers=False, *, alt: str) -> None:
    """Bars for each label, one per group, told apart by hatching as well as by colour.

    groups: name → one height per label. numbers: write each height above its bar.
    """
    longest = max(len(line) for label in labels for line in str(label).splitlines())
    each = max(0.8 if len(labels) < 8 else 0.5, 0.35 * len(groups), 0.1 * longest + 0.1)  # inches
    figure, axes = _figure(max(4.5, min(11.0, len(labels) * each + 2)), 3.6, 1, 1)
    axis, width = axes.flat[0], 0.8 / len(groups)
    xs = np.arange(len(labels))
    for index, ((name, heights), (colour, hatch)) in enumerate(zip(groups.items(), _BARS)):
        left = xs + (index - (len(groups) - 1) / 2) * width
        drawn = axis.bar(left, heights, width, color=colour, edgecolor="white", hatch=hatch, label=name)
        if numbers:
            axis.bar_label(drawn, fmt="{:,.3g}" if max(heights) < 1000 else "{:,.0f}", fontsize=9, padding=2)
    axis.set_xticks(xs, labels)
    axis.set(title=title, xlabel=x, ylabel=y)
    axis.margins(y=0.15)
    if len(groups) > 1:
        axis.legend(frameon=False)
    _show(figure, alt)
