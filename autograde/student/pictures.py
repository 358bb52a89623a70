"""Drawings from a student's own tensors: large enough for a projector, readable without colour, each with a text.

Every function shows its picture in the notebook (as PNG with the alternative text `alt`) and returns nothing; without a
notebook the text alone is printed.
"""

import base64
import html
import sys
import textwrap

import numpy as np

from autograde.judging.verdict import draw_cells, png_of, scale_of

_STYLE = {"font.size": 11, "axes.titlesize": 12, "axes.spines.top": False, "axes.spines.right": False}
_PER_INCH = 11  # letters of a title
_LINES = (("#1f5fa8", "-", "o"), ("#c8500a", "--", "s"), ("#6b6b6b", ":", "^"))


def heat_maps(matrices, titles=(), rows=None, columns=None, per_line=4, numbers=False, largest=None, *, row_axis="",
              column_axis="", alt: str) -> None:  # fmt: skip
    """Matrices side by side as heat maps, dark is large; with two colours and 0 in the middle if numbers are negative.

    matrices: tensors or arrays (m, n). rows, columns: labels of all, or a list of such, one for each matrix.
    per_line: number of matrices side by side. numbers: write each value into its cell.
    largest: the value drawn darkest, the same in all (default: each matrix its own largest).
    row_axis, column_axis: what the rows and the columns stand for, such as "query" and "key".
    """
    matrices = [np.atleast_2d(np.asarray(matrix)) for matrix in matrices]
    lines = -(-len(matrices) // per_line)
    beside = min(per_line, len(matrices))
    tallest, widest = (max(matrix.shape[axis] for matrix in matrices) for axis in (0, 1))
    wide, high = (0.42, 0.36) if numbers else (0.3, 0.3)  # inches: a picture wider than the page is scaled down
    width = min(15.0, beside * max(2.6, wide * widest + (1.0 if rows is not None else 0.3)))
    letters = int(_PER_INCH * (width / beside - (0.6 if rows is not None else 0.0)))
    titles = [textwrap.fill(title, letters) for title in titles]
    more = 0.2 * max((title.count("\n") for title in titles), default=0) + (0.25 if column_axis else 0.0)
    figure, axes = _figure(width, lines * (max(1.6, high * tallest + 1.1) + more), lines, beside)
    for axis in axes.flat[len(matrices) :]:
        axis.set_axis_off()
    for index, (axis, matrix) in enumerate(zip(axes.flat, matrices)):
        _heat_map(axis, matrix, numbers, largest)
        axis.set_title(titles[index] if index < len(titles) else "")
        shared = index % per_line != 0 and not _one_each(rows)  # the first of a line has the labels of all
        for set_ticks, count, labels, turned in (
            (axis.set_xticks, matrix.shape[1], _own(columns, index), dict(rotation=60, ha="right")),
            (axis.set_yticks, matrix.shape[0], None if shared else _own(rows, index), {}),
        ):
            set_ticks(range(count), [""] * count if labels is None else labels, **turned)
        axis.tick_params(length=0)
        axis.set(xlabel=column_axis, ylabel="" if index % per_line else row_axis)
    _show(figure, alt)


def _one_each(labels) -> bool:
    return labels is not None and isinstance(labels[0], (list, tuple))


def _own(labels, index):
    return labels[index] if _one_each(labels) else labels


def _heat_map(axis, matrix, numbers, largest):
    digits, finite = 0 if np.issubdtype(matrix.dtype, np.integer) else 2, matrix[np.isfinite(matrix)]
    low, high, colours = scale_of(np.append(finite.astype("float64"), largest or []), least=0.0)
    high = largest or high or 1.0 if low >= 0 else high

    def text_of(value) -> str:
        if not np.isfinite(value):
            return "NaN"
        return f"{round(float(value), digits) + 0.0:.{digits}f}" if numbers else ""  # + 0.0: never -0.00

    draw_cells(axis, matrix, (low, high, colours), 9, text_of)


def lines(x_values, curves: dict, title="", x="", y="", log=False, *, alt: str) -> None:
    """Curves over the same x, told apart by dash and marker as well as by colour. log: both axes logarithmic."""
    width = 6.4  # inches
    figure, axis = _plot(width, 3.8)
    for (name, values), (colour, dash, marker) in zip(curves.items(), _LINES, strict=False):
        every = max(1, len(x_values) // 30)  # more markers would overlap
        axis.plot(
            x_values, np.asarray(values), color=colour, linestyle=dash, marker=marker, markevery=every, label=name
        )
    if log:
        axis.set_xscale("log", base=2)
        axis.set_yscale("log")
    elif all(float(value).is_integer() for value in x_values):
        axis.xaxis.get_major_locator().set_params(integer=True)  # no step 2.5
    _finish(axis, title=title, xlabel=x, ylabel=y)
    columns = int(width * _PER_INCH / (max(map(len, curves)) + 6))  # as many names as fit side by side, with dashes
    figure.legend(loc="outside lower center", ncols=max(1, min(columns, len(curves))), frameon=False)
    _show(figure, alt)


def _figure(width, height, rows, columns):
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(width, height), dpi=100, layout="constrained", facecolor="white")
        return figure, figure.subplots(rows, columns, squeeze=False)


def _plot(width, height, bare=False):
    """A figure with one pair of axes. bare: without lines and numbers, for a drawing of boxes and words."""
    figure, axes = _figure(width, height, 1, 1)
    axes[0, 0].axison = not bare
    return figure, axes[0, 0]


def _finish(axis, legend: dict | None = None, grid: str = "both", **labels) -> None:
    """Sets the labels; draws a light grid and a legend without a frame. legend: where it is; None for no legend."""
    axis.set(**labels)
    axis.grid(alpha=0.3, axis=grid)
    if legend is not None:
        axis.legend(frameon=False, **legend)


def _centred(axis, x, y, text, **look) -> None:
    axis.text(x, y, text, ha="center", va="center", **look)


def _rectangle(axis, left, bottom, width, height, **look) -> None:
    from matplotlib.patches import Rectangle

    axis.add_patch(Rectangle((left, bottom), width, height, **look))


class Drawing:
    """A picture with its text, as a notebook shows it."""

    def __init__(self, png: bytes, alt: str):
        self.png, self.alt = png, alt

    def __repr__(self):
        return f"[picture: {self.alt}]"

    def _repr_html_(self):
        data = base64.b64encode(self.png).decode()
        return f'<img alt="{html.escape(self.alt)}" style="max-width:100%" src="data:image/png;base64,{data}">'


def _show(figure, alt):
    show(Drawing(png_of(figure), alt))


def show(drawing) -> None:
    """Shows a drawing in the notebook; elsewhere prints its alternative text."""
    Place().show(drawing)


class Place:
    """A place in a notebook: what is shown there later replaces what was there. Elsewhere it is printed, by `say`."""

    def __init__(self, say=print):
        self._say, self._handle = say, None

    def show(self, thing) -> None:
        if not in_notebook():
            self._say(thing)
        elif self._handle is None:
            from IPython.display import display

            self._handle = display(thing, display_id=True)
        else:
            self._handle.update(thing)


class Shown(str):
    """Text that a notebook shows without quotation marks, and Markdown if it is a `Markdown`."""

    def __repr__(self):
        return str(self)


class Markdown(Shown):
    def _repr_markdown_(self):
        return str(self)


def shell():
    """The IPython that runs this, or None."""
    if "IPython" not in sys.modules:
        return None
    from IPython import get_ipython

    return get_ipython()


def in_notebook() -> bool:
    """Whether a notebook runs this; IPython in a terminal cannot update what it has shown."""
    return getattr(shell(), "kernel", None) is not None
