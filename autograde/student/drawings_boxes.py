"""Drawings of notebooks 00, 02, 05 and 06: boxes with words in them, bars, large tables."""

import textwrap

import numpy as np

from autograde.student.pictures import _centred, _figure, _plot, _rectangle, _show

_INK, _FILL = "#1f5fa8", "#eaf1f9"
_FILLS = (("#1f5fa8", ""), ("#f2c894", "///"), ("#6b6b6b", "..."), ("#d9e6f2", "xx"))  # also told apart by `hatch`
_SUMMANDS = (("#1f5fa8", ""), ("#f3c9a8", "//"), ("#dddddd", ".."))  # per row: colour and hatching
_BOXES = {  # kind of token → face, edge, width of the edge, dash, `hatch`
    "": ("white", "#b0b0b0", 0.8, "-", None),
    "masked": ("#1f3a5f", "#1f3a5f", 1.0, "-", None),
    "another": ("#f6d9b8", "#8a4b08", 1.6, "-", "///"),
    "unchanged": ("white", "#1f5fa8", 2.0, "--", None),
    "special": ("#e4e4e4", "#9a9a9a", 0.8, "-", None),
}
_WHITE = {"color": "white"}
_BARS = (("#1f5fa8", None), ("#f0b27a", "///"), ("#9a9a9a", "..."))


def course_map(rows: list[list[tuple[str, str]]], free: list[tuple[str, str]] | None = None, *, alt: str) -> None:
    """Boxes (title, line below it) in rows, each with an arrow to the next. free: boxes below them without arrows."""
    from matplotlib.patches import FancyBboxPatch

    free, widest = free or [], max(len(row) for row in rows)
    together = -(-len(free) // max(1, -(-len(free) // widest)))  # equally many in each row below
    drawn = [*rows, *(free[first : first + together] for first in range(0, len(free), together or 1))]
    figure, axis = _plot(2.9 * widest, 1.25 * len(drawn), bare=True)
    xs = {}
    for depth, row in enumerate(drawn):
        for column, (title, text) in enumerate(row):
            x = column + (widest - len(row)) / 2
            xs[depth, column] = x
            corner, look = (x - 0.38, depth - 0.24), dict(facecolor=_FILL, edgecolor=_INK)
            axis.add_patch(FancyBboxPatch(corner, 0.76, 0.48, boxstyle="round,pad=0.03", **look))
            _centred(axis, x, depth - 0.1, title, fontsize=13, fontweight="bold")
            _centred(axis, x, depth + 0.12, textwrap.fill(text, 26), fontsize=11)
    order = [place for place in xs if place[0] < len(rows)]
    for (depth, column), (next_depth, next_column) in zip(order, order[1:]):
        start, end = xs[depth, column], xs[next_depth, next_column]
        if depth == next_depth:
            _arrow(axis, (start + 0.42, depth), (end - 0.42, depth))
        else:
            _arrow(axis, (start, depth + 0.3), (end, next_depth - 0.3))
    axis.set(xlim=(-0.5, widest - 0.5), ylim=(len(drawn) - 0.6, -0.4))
    _show(figure, alt)


def _arrow(axis, start, end):
    axis.annotate("", xy=end, xytext=start, arrowprops={"arrowstyle": "->", "color": _INK, "linewidth": 1.5})


def steps_of_rows(steps: dict[str, list[str]], end: tuple[str, str], *, alt: str) -> None:
    """Boxes in columns (title → a text for each row): each row goes from step to step, and all rows end in one box."""
    rows = len(next(iter(steps.values())))
    widths = [0.11 * max(map(len, [title, *texts])) + 0.25 for title, texts in [*steps.items(), (end[0], [end[1]])]]
    centres = [sum(widths[:column]) + 0.45 * column + widths[column] / 2 for column in range(len(widths))]
    figure, axis = _plot(sum(widths) + 0.45 * len(widths), 0.6 * rows + 0.6, bare=True)
    box = {"boxstyle": "round,pad=0.35", "facecolor": _FILL, "edgecolor": _INK}
    for column, (title, texts) in enumerate([*steps.items(), (end[0], [end[1]])]):
        _centred(axis, centres[column], -0.75, title, fontweight="bold")
        for row, text in enumerate(texts):
            y = row if len(texts) == rows else (rows - 1) / 2
            _centred(axis, centres[column], y, text, family="monospace", bbox=box)
    for row in range(rows):
        for column in range(len(steps)):
            to = row if column + 1 < len(steps) else (rows - 1) / 2
            start = centres[column] + widths[column] / 2
            _arrow(axis, (start + 0.02, row), (centres[column + 1] - widths[column + 1] / 2 - 0.02, to))
    axis.set(xlim=(-0.1, centres[-1] + widths[-1] / 2 + 0.1), ylim=(rows - 0.5, -1.1))
    _show(figure, alt)


def blocks(levels: list[list[str]], *, alt: str) -> None:
    """Boxes with words in them, level by level from the bottom up, an arrow from each level to the boxes above it."""
    figure, axis = _plot(7.6, 0.86 * len(levels), bare=True)
    for height, names in enumerate(levels):
        width = 1.0 / len(names)
        for index, name in enumerate(names):
            middle = (index + 0.5) * width
            box = {"boxstyle": "round,pad=0.45", "facecolor": "#eaf1f8", "edgecolor": "#1f5fa8", "linewidth": 1.4}
            _centred(axis, middle, height, name, fontsize=11, bbox=box)
            if height:
                below = 0.5 + 0.3 * (middle - 0.5) if len(levels[height - 1]) == 1 else middle
                ends = {"xy": (middle, height - 0.33), "xytext": (below, height - 0.67)}
                axis.annotate("", **ends, arrowprops={"arrowstyle": "-|>", "color": "#444444"})
    axis.set(xlim=(0, 1), ylim=(-0.5, len(levels) - 0.4))
    _show(figure, alt)


def shares(wholes: dict[str, dict[str, float]], title: str = "", *, alt: str) -> None:
    """One bar per whole, cut into its parts, as percentages of it; the parts have the same names in every bar."""
    figure, axis = _plot(8.4, 1.3 + 0.46 * len(wholes))
    rows = range(len(wholes))
    left = [0.0] * len(wholes)
    for (colour, hatch), part in zip(_FILLS, next(iter(wholes.values())), strict=False):
        lengths = [100 * parts[part] / sum(parts.values()) for parts in wholes.values()]
        axis.barh(rows, lengths, left=left, color=colour, hatch=hatch, edgecolor="white", label=part)
        for row, (start, length) in enumerate(zip(left, lengths)):
            if length > 8:
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
                _centred(axis, start + length / 2, row, f"{length:.0f} %", bbox=box)
        left = [start + length for start, length in zip(left, lengths)]
    axis.set_yticks(rows, list(wholes))
    axis.invert_yaxis()
    axis.set(xlim=(0, 100), xlabel="percent", title=title)
    axis.legend(frameon=False, ncols=len(_FILLS), loc="upper center", bbox_to_anchor=(0.5, -0.16))
    _show(figure, alt)


def guess_bars(groups: dict[str, list[tuple[str, float]]], per_line: int = 3, title: str = "", *, alt: str) -> None:
    """Draws the predictions of each group (a sentence) from the top down as bars from 0 to 1, with token and number."""
    lines = -(-len(groups) // per_line)
    tallest = max(len(guesses) for guesses in groups.values())
    figure, axes = _figure(3.8 * min(per_line, len(groups)), lines * (0.8 + 0.28 * tallest), lines, per_line)
    for axis in axes.flat:
        axis.set_axis_off()
    for axis, (name, guesses) in zip(axes.flat, groups.items(), strict=False):
        axis.barh(range(len(guesses)), [share for _, share in guesses], color="#9fc1e3", edgecolor="#1f5fa8")
        for row, (piece, share) in enumerate(guesses):
            axis.text(-0.02, row, piece, ha="right", va="center")
            axis.text(share + 0.02, row, f"{share:.2f}", ha="left", va="center", fontsize=9)
        axis.set(xlim=(-0.45, 1.15), ylim=(tallest - 0.4, -0.6))
        axis.set_title(name, fontsize=10)
    if title:
        figure.suptitle(title)
    _show(figure, alt)


def sum_of_rows(rows: dict, *, alt: str) -> None:
    """Rows of labelled boxes (name → a label per column; the first row names the columns), with a plus between them."""
    (first, pieces), *others = rows.items()
    figure, axis = _plot(min(15.0, 0.95 * len(pieces) + 2.2), 0.78 * len(rows) + 0.4, bare=True)
    for column, piece in enumerate(pieces):
        _centred(axis, column, 0, piece, fontsize=12, fontweight="bold")
        for depth, (_, labels) in enumerate(others, start=1):
            colour, hatch = _SUMMANDS[(depth - 1) % len(_SUMMANDS)]
            look = dict(facecolor=colour, edgecolor="white", hatch=hatch, alpha=0.9)
            _rectangle(axis, column - 0.45, depth - 0.3, 0.9, 0.6, **look)
            text = dict(color="black", bbox=dict(facecolor="white", edgecolor="none", pad=1.5)) if hatch else _WHITE
            _centred(axis, column, depth, labels[column], fontsize=11, **text)
            if depth > 1:
                _centred(axis, column, depth - 0.5, "+", fontsize=13)
    for depth, name in enumerate(rows):
        axis.text(-0.75, depth, name, ha="right", va="center", fontsize=12)
    axis.set(xlim=(-2.6, len(pieces) - 0.4), ylim=(len(rows) - 0.55, -0.5))
    _show(figure, alt)


def tables(matrices, titles=(), rows="", columns="", *, alt: str) -> None:
    """Large matrices side by side, dark is large, with a scale beside each. rows, columns: what the axes count."""
    matrices = [np.asarray(matrix, "float64") for matrix in matrices]
    figure, axes = _figure(5.2 * len(matrices), 4.4, 1, len(matrices))
    for index, (axis, matrix) in enumerate(zip(axes.flat, matrices)):
        shown = axis.imshow(matrix, cmap="Blues", aspect="auto", interpolation="nearest")
        axis.set(title=titles[index] if index < len(titles) else "", xlabel=columns, ylabel=rows)
        figure.colorbar(shown, ax=axis, shrink=0.9)
    _show(figure, alt)


def token_boxes(rows, titles=(), *, alt: str) -> None:
    """Rows of (token, kind) as boxes, kind below: "" (not chosen), "masked", "another", "unchanged" or "special"."""
    widest = max(sum(_width(token) for token, _ in row) for row in rows)
    figure, axes = _figure(min(15.0, 0.1 * widest + 0.6), 0.95 * len(rows) + 0.1, len(rows), 1)
    for index, (axis, row) in enumerate(zip(axes.flat, rows)):
        axis.set(xlim=(0, widest), ylim=(0, 1))
        axis.set_axis_off()
        axis.set_title(titles[index] if index < len(titles) else "", loc="left")
        left = 0.0
        for token, kind in row:
            _token(axis, left, token, kind)
            left += _width(token)
    _show(figure, alt)


def _width(token):
    return max(len(token), 4) + 2.2


def _token(axis, left, token, kind):
    face, edge, thick, dash, hatch = _BOXES[kind]
    size = _width(token) - 0.6
    _rectangle(axis, left, 0.38, size, 0.5, facecolor=face, edgecolor=edge, linewidth=thick, linestyle=dash)
    if hatch:
        _rectangle(axis, left, 0.38, size, 0.09, facecolor="none", edgecolor=edge, linewidth=0, hatch=hatch)
    middle = left + size / 2
    _centred(axis, middle, 0.64, token, fontsize=11, color="white" if kind == "masked" else "black")
    _centred(axis, middle, 0.16, "" if kind == "special" else kind, fontsize=9, color="#404040")


def bars(labels, groups: dict, title="", x="", y="", numbers=False, *, alt: str) -> None:
    """Bars for each label, one per group (name → heights), also told apart by hatching. numbers: write each height
    above."""
    longest = max(len(line) for label in labels for line in str(label).splitlines())
    each = max(0.8 if len(labels) < 8 else 0.5, 0.35 * len(groups), 0.1 * longest + 0.1)  # inches
    figure, axis = _plot(max(4.5, min(11.0, len(labels) * each + 2)), 3.6)
    width = 0.8 / len(groups)
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
