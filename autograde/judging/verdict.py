"""The result of a check: points, reasons and sentences, as data, as text and as HTML.

Text and HTML have the same facts in the same order, without relying on colour. The HTML inherits the page's own text
colour and background, for JupyterLab's light and dark themes; all text that may come from a student is escaped.
"""

import base64
import dataclasses
import html
import io
import re
from dataclasses import dataclass, field

import numpy as np

MARKS = {"passed": "✓", "partly": "◐", "wrong": "✗", "raised": "✗", "refused": "✗", "missing": "?",
         "not attempted": "○", "technical": "!"}  # fmt: skip
_LOOKS = {"passed": ("solid", "42,106,52"), "partly": ("dotted", "176,128,16")}  # as on the feedback page: edge, colour
_LOST = ("dashed", "156,61,6")
_LABEL_STYLE = "text-align:left;vertical-align:baseline;padding:.1em 1em .1em 0;font-weight:normal;opacity:.8"
_TEXT_STYLE = "text-align:left;vertical-align:baseline;padding:.1em 0;white-space:pre-wrap;font-family:monospace"
WIDTH = 78
_LABEL = 8
_TITLES = {"values": "results as expected"}


def title_of_part(name: str) -> str:
    """The name of a part, in words that need no explanation."""
    return _TITLES.get(name, name)


@dataclass(frozen=True)
class PartResult:
    """One part of an exercise: earned, or not and why."""

    name: str
    points: float
    max_points: float
    message: str = ""  # empty when earned

    @property
    def earned(self) -> bool:
        return self.points == self.max_points

    @property
    def title(self) -> str:
        return title_of_part(self.name)


@dataclass(frozen=True)
class Picture:
    """A small matrix of the student's beside the expected one, as nested lists. first: the row and column at which it
    begins; part: the name of its part, where an exercise has several."""

    yours: list
    expected: list
    first: tuple[int, int] = (0, 0)
    part: str = ""


@dataclass(frozen=True)
class Verdict:
    """The outcome of one check of one exercise.

    status: passed, partly, wrong, raised, not attempted, missing, refused, or technical: nothing was graded, and the
    reason is in `technical`.
    facts: (label, text) pairs, "tried", "shape", "values" … in the order to be read; advice: sentences, most important
    first; misconception: the id of the mistake that was recognised.
    """

    exercise: str
    label: str  # "3.4 attention_scores"
    status: str
    points: float
    max_points: float
    parts: tuple[PartResult, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    advice: tuple[str, ...] = ()
    misconception: str | None = None
    seed: str = ""
    picture: Picture | None = None
    technical: str | None = None
    notes: tuple[str, ...] = field(default=())  # harmless observations

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def to_dict(self) -> dict:
        """JSON-able; the inverse of `from_dict`."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict) -> "Verdict":
        """The verdict that `to_dict` wrote, also after a round trip through JSON."""
        read = values | {name: tuple(values[name]) for name in ("advice", "notes")}
        read["parts"] = tuple(PartResult(**part) for part in values["parts"])
        read["facts"] = tuple((label, text) for label, text in values["facts"])
        if picture := values["picture"]:
            read["picture"] = Picture(**picture | {"first": tuple(picture["first"])})
        return cls(**read)

    def with_advice(self, *sentences: str) -> "Verdict":
        """The same verdict with more advice at its end."""
        return dataclasses.replace(self, advice=self.advice + sentences)

    def __str__(self):
        return as_text(self)


# --- text ---


def points_text(points: float) -> str:
    return f"{points:g}"


def as_text(verdict: Verdict) -> str:
    """The verdict for a terminal or a notebook without HTML."""
    score = f"{points_text(verdict.points)} / {points_text(verdict.max_points)}"
    head = f"{MARKS[verdict.status]} {verdict.label}"
    lines = [f"{head:<{WIDTH - len(score)}}{score}"]
    for label, text in _facts(verdict):
        first, *rest = text.split("\n")
        lines.append(f"  {label:<{_LABEL}}{first}")
        lines += [f"  {'':<{_LABEL}}{line}" for line in rest]
    if picture := verdict.picture:
        longest = max((len(_cell(value)) for row in (*picture.yours, *picture.expected) for value in row), default=0)
        width = 9 if longest <= 9 else longest + 1
        lines += [f"  {_where(picture)}:"] if _where(picture) else []
        for label, matrix in (("yours", picture.yours), ("expected", picture.expected)):
            lines.append(f"  {label:<8}" + "\n          ".join(_rows(matrix, width)))
    for sentence in (*verdict.advice, *verdict.notes):
        lines += [f"  {line}" for line in sentence.split("\n")]
    return "\n".join(lines)


def _facts(verdict):
    yield from verdict.facts
    if verdict.points and len(verdict.parts) > 1:  # without the first part the others do not count yet
        for part in verdict.parts:
            mark = "✓" if part.earned else "✗"
            reason = "" if part.earned or not part.message else f": {part.message}"
            share = f"{points_text(part.points)}/{points_text(part.max_points)}"
            yield "part", f"{mark} {share}  {part.title}{reason}"


def _where(picture):
    """The part of the exercise that it belongs to, and which part of a matrix it is; "" where there is no other."""
    (row, column), (rows, columns) = picture.first, np.shape(picture.expected)
    location = f"rows {row} to {row + rows - 1}, columns {column} to {column + columns - 1}"
    part = [f'part "{title_of_part(picture.part)}"'] if picture.part else []
    return ", ".join([*part, location] if any(picture.first) else part)


def _rows(matrix, width):
    return ["  ".join(_cell(value).rjust(width) for value in row) for row in matrix] or ["(empty)"]


def _cell(value):
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.4f}"


# --- HTML ---


def as_html(verdict: Verdict) -> str:
    """The verdict for a notebook: a table of facts, and pictures with alternative texts; readable without colour."""
    score = f"{points_text(verdict.points)} / {points_text(verdict.max_points)}"
    head = f"{MARKS[verdict.status]} {verdict.label}"
    rows = "".join(
        f'<tr style="background:transparent"><th scope="row" style="{_LABEL_STYLE}">{html.escape(label)}</th>'
        f'<td style="{_TEXT_STYLE}">{html.escape(text)}</td></tr>'
        for label, text in _facts(verdict)
    )
    sentences = ""
    for sentence in verdict.advice + verdict.notes:  # `code` is set as code
        marked = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(sentence).replace("\n", "<br>"))
        sentences += f'<p style="margin:.4em 0">{marked}</p>'
    picture = _picture_html(verdict.picture) if verdict.picture else ""
    edge, colour = ("dashed", "128,128,128") if verdict.status == "not attempted" else _LOOKS.get(verdict.status, _LOST)
    return (
        f'<div role="group" aria-label="{html.escape(head)}: {verdict.status}, {score} points" '
        f'style="border-left:4px {edge} rgb({colour});background:rgba({colour},.1);padding:.3em .9em;color:inherit;'
        f'max-width:60em">'
        f"<p style='margin:.2em 0'><strong>{html.escape(head)}</strong> — {verdict.status} · "
        f"<strong>{score}</strong> points</p>"
        f'<table style="color:inherit;background:transparent"><tbody>{rows}</tbody></table>{picture}{sentences}</div>'
    )


def _picture_html(picture):
    png = _draw(picture)
    spoken = "; ".join(
        f"{name}: " + " / ".join(", ".join(_cell(value) for value in row) for row in matrix)
        for name, matrix in (("yours", picture.yours), ("expected", picture.expected))
    )
    where = _where(picture)
    spoken = f"{where}; {spoken}" if where else spoken
    caption = f'<figcaption style="opacity:.8">{html.escape(where)}</figcaption>' if where else ""
    image = f'<img alt="{html.escape(spoken)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">'
    return f'<figure style="margin:.4em 0">{caption}{image}</figure>'


def scale_of(finite: np.ndarray, least: float | None = None) -> tuple[float, float, str]:
    """(lowest, highest, colours) of a picture of numbers: where signs differ two colours, and white is 0; else `least`,
    or the smallest, is white."""
    if not finite.size:
        return 0.0, 1.0, "Blues"
    low, high = float(finite.min()), float(finite.max())
    if low < 0 < high:
        size = max(-low, high)
        return -size, size, "RdBu"
    return min(low, low if least is None else least), high, "Blues"


def is_dark(value: float, low: float, high: float) -> bool:
    """Whether a number's cell is so dark that white letters are readable on it."""
    if low == -high:  # two colours
        return abs(value) > 0.6 * high
    return value > low + 0.6 * (high - low)


def draw_cells(axis, matrix: np.ndarray, scale: tuple[float, float, str], fontsize: int, text_of) -> None:
    """Draws a matrix in these colours. text_of: number → what is written in its cell, "" for nothing."""
    low, high, colours = scale
    axis.imshow(np.ma.masked_invalid(matrix.astype("float64")), cmap=colours, vmin=low, vmax=high, aspect="auto")
    for (row, column), value in np.ndenumerate(matrix):
        if text := text_of(value):
            ink = "white" if np.isfinite(value) and is_dark(value, low, high) else "black"
            axis.text(column, row, text, ha="center", va="center", fontsize=fontsize, color=ink)


def png_of(figure) -> bytes:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    buffer = io.BytesIO()
    FigureCanvasAgg(figure).print_png(buffer, metadata={"Software": None})  # the same bytes with any version
    return buffer.getvalue()


def _draw(picture: Picture) -> bytes:
    from matplotlib.figure import Figure

    matrices = [np.asarray(matrix, "float64") for matrix in (picture.yours, picture.expected)]
    scale = scale_of(np.concatenate([m[np.isfinite(m)] for m in matrices]))
    figure = Figure(figsize=(7.4, 2.9), dpi=80, layout="constrained", facecolor="white")
    for axis, matrix, name in zip(figure.subplots(1, 2), matrices, ("yours", "expected")):
        draw_cells(axis, matrix, scale, 8, lambda value: f"{value:.0f}" if value.is_integer() else f"{value:.2f}")
        axis.set(title=name)
        axis.set_xticks(range(matrix.shape[1]), range(picture.first[1], picture.first[1] + matrix.shape[1]))
        axis.set_yticks(range(matrix.shape[0]), range(picture.first[0], picture.first[0] + matrix.shape[0]))
    return png_of(figure)
