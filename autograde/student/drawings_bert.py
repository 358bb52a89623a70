"""Drawings of notebook 05: boxes from the bottom up, parts of a whole, and predictions as bars."""

from autograde.student.pictures import _figure, _show

_FILLS = (("#1f5fa8", ""), ("#f2c894", "///"), ("#6b6b6b", "..."), ("#d9e6f2", "xx"))  # also told apart by `hatch`


def blocks(levels: list[list[str]], *, alt: str) -> None:
    """Boxes with words in them, level by level from the bottom up, an arrow from each level to the boxes above it."""
    figure, axes = _figure(7.6, 0.86 * len(levels), 1, 1)
    axis = axes.flat[0]
    for height, names in enumerate(levels):
        width = 1.0 / len(names)
        for index, name in enumerate(names):
            middle = (index + 0.5) * width
            box = {"boxstyle": "round,pad=0.45", "facecolor": "#eaf1f8", "edgecolor": "#1f5fa8", "linewidth": 1.4}
            axis.text(middle, height, name, ha="center", va="center", fontsize=11, bbox=box)
            if height:
                below = 0.5 + 0.3 * (middle - 0.5) if len(levels[height - 1]) == 1 else middle
                ends = {"xy": (middle, height - 0.33), "xytext": (below, height - 0.67)}
                axis.annotate("", **ends, arrowprops={"arrowstyle": "-|>", "color": "#444444"})
    axis.set(xlim=(0, 1), ylim=(-0.5, len(levels) - 0.4))
    axis.set_axis_off()
    _show(figure, alt)


def shares(wholes: dict[str, dict[str, float]], title: str = "", *, alt: str) -> None:
    """One bar per whole, cut into its parts, as percentages of it; the parts have the same names in every bar."""
    figure, axes = _figure(8.4, 1.3 + 0.46 * len(wholes), 1, 1)
    axis = axes.flat[0]
    rows = range(len(wholes))
    left = [0.0] * len(wholes)
    for (colour, hatch), part in zip(_FILLS, next(iter(wholes.values())), strict=False):
        lengths = [100 * parts[part] / sum(parts.values()) for parts in wholes.values()]
        axis.barh(rows, lengths, left=left, color=colour, hatch=hatch, edgecolor="white", label=part)
        for row, (start, length) in enumerate(zip(left, lengths)):
            if length > 8:
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
                axis.text(start + length / 2, row, f"{length:.0f} %", ha="center", va="center", bbox=box)
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
