"""Drawings for notebook 04: an encoder layer as boxes, curves side by side, histograms."""

import numpy as np

from autograde.student.pictures import _centred, _figure, _show

_STYLES = (("#1f5fa8", "-"), ("#c8500a", "--"), ("#2f7d32", "-."), ("#6b6b6b", ":"), ("#7b3294", (0, (6, 2, 1, 2))))
_MARKERS = "os^Dv"
_BOX = dict(boxstyle="round,pad=0.4", facecolor="#eaf1fa", edgecolor="#1f5fa8")
_PLUS = dict(boxstyle="circle,pad=0.25", facecolor="white", edgecolor="black")


def stacked_boxes(stacks: dict[str, list[str]], *, alt: str) -> None:
    """Columns of boxes, read from below, as layers are drawn in papers.

    stacks: title → names of the boxes. A box called "+" closes a residual connection: an arrow leads to it around the
    boxes since the last fork. A box called "fork" is where such an arrow begins; it is not drawn.
    """
    figure, axes = _figure(3.4 * len(stacks), 5.2, 1, len(stacks))
    for axis, (title, names) in zip(axes.flat, stacks.items()):
        axis.set_axis_off()
        axis.set(xlim=(-1.6, 1.6), ylim=(-0.8, len([n for n in names if n != "fork"]) + 0.2), title=title)
        _draw_stack(axis, names)
    _show(figure, alt)


def _draw_stack(axis, names):
    height, fork, below = 0, 0.0, -0.6
    for name in names:
        if name == "fork":
            fork = height - 0.5
            continue
        axis.annotate("", (0, height - 0.25), (0, below), arrowprops=dict(arrowstyle="->"))
        _centred(axis, 0, height, name, fontsize=11, bbox=_PLUS if name == "+" else _BOX)
        if name == "+":
            axis.plot([0, 1.35, 1.35], [fork, fork, height], color="black", linewidth=1)
            axis.annotate("", (0.2, height), (1.35, height), arrowprops=dict(arrowstyle="->"))
        below, height = height + 0.25, height + 1
    axis.annotate("", (0, height - 0.3), (0, below), arrowprops=dict(arrowstyle="->"))


def curves(x_values, panels: dict[str, dict], x="", y="", log=False, limits=None, markers=True, *, alt: str) -> None:
    """Panels side by side, each with curves over the same x, told apart by dash and marker as well as by colour.

    panels: title → {name of a curve: its values}, at most five curves each. log: the y axis is logarithmic.
    limits: (lowest, highest) of the y axis, the same in all panels.
    """
    from matplotlib.ticker import ScalarFormatter

    figure, axes = _figure(6.2 * len(panels), 4.0, 1, len(panels))
    for axis, (title, named) in zip(axes.flat, panels.items()):
        every = max(1, len(np.asarray(x_values)) // 12)
        for (name, values), (colour, dash), marker in zip(named.items(), _STYLES, _MARKERS):
            marked = dict(marker=marker, markevery=every) if markers else {}
            axis.plot(x_values, np.asarray(values), color=colour, linestyle=dash, linewidth=2, label=name, **marked)
        axis.set(title=title, xlabel=x, ylabel=y)
        if log:
            axis.set_yscale("log")
            low, high = axis.get_ylim()
            if high < 100 * low:  # 0.2 instead of 2 × 10⁻¹
                axis.yaxis.set_major_formatter(ScalarFormatter())
                axis.yaxis.set_minor_formatter(ScalarFormatter())
        if limits:
            axis.set_ylim(*limits)
        axis.grid(alpha=0.3)
        if len(named) > 1:
            axis.legend(frameon=False)
    _show(figure, alt)


def histograms(values: dict, *, alt: str) -> None:
    """A histogram of each array (title → any shape) from −3 to 3; the edge bars count what is outside."""
    per_line, limits = 4, (-3, 3)
    lines = -(-len(values) // per_line)
    figure, axes = _figure(3.2 * min(per_line, len(values)), 2.3 * lines, lines, min(per_line, len(values)))
    for axis in axes.flat[len(values) :]:
        axis.set_axis_off()
    for axis, (title, numbers) in zip(axes.flat, values.items()):
        numbers = np.asarray(numbers, "float64").ravel()
        axis.hist(np.clip(numbers, *limits), bins=41, range=limits, color="#1f5fa8")
        axis.set(title=f"{title}\nstandard deviation {numbers.std():.2g}", yticks=[], xlim=limits)
        axis.spines["left"].set_visible(False)
    _show(figure, alt)
