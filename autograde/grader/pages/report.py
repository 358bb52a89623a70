"""The class report: one page for the instructor, from the records of an assignment."""

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from autograde.common.errors import InputError
from autograde.grader.grading.results import Result
from autograde.grader.pages import Drawing, render
from bertlab import plots

_NAMES_SHOWN = 12
_NOT_RIGHT = ("wrong", "raised", "refused", "missing")
_UNTRIED = ("not attempted",)


def report_page(results: Iterable[Result], title: str, graders: Sequence = (), look: Sequence[str] = ()) -> str:
    """The page as HTML. graders, look: as `sheets.progress` returns them. Raises InputError without results."""
    results = list(results)
    if not results:
        raise InputError(f"{title}: no results yet; run `autograde grade` first")
    points, most = defaultdict(float), defaultdict(float)
    for result in results:
        points[result.student] += result.points
        most[result.notebook] = max(most[result.notebook], result.max_points)  # an unreadable one has no verdicts
    possible, exercises = sum(most.values()), _exercises(results)
    times = sorted(result.handed_in for result in results if result.handed_in)
    doubts = sorted((result.student, result.notebook, doubt) for result in results for doubt in result.doubts)
    seconds = [result.seconds for result in results]
    figures = {"points": _draw_points(list(points.values()), possible), "exercises": _draw_exercises(exercises)}
    return render(
        "report",
        title=title,
        graders=graders,
        look=look,
        students=sorted(points),
        notebooks=sorted({result.notebook for result in results}),
        first=times[0] if times else "",
        last=times[-1] if times else "",
        possible=possible,
        median=statistics.median(points.values()),
        complete=sum(value >= possible > 0 for value in points.values()),
        exercises=exercises,
        misconceptions=_misconceptions(results),
        help=_need_help(results, points, possible),
        technical=_technical(results),
        repaired=_repaired(results),
        untested=_untested(results),
        doubts=[dict(zip(("student", "notebook", "reason"), doubt)) for doubt in doubts],
        seconds={
            "median": _duration(statistics.median(seconds)),
            "longest": _duration(max(seconds)),
            "all": _duration(sum(seconds)),
        },
        figures={name: Drawing(plots.figure_svg(figure)) for name, figure in figures.items()},
    )


def _exercises(results) -> list[dict]:
    """One row per exercise, hardest first."""
    verdicts = defaultdict(list)
    for result in results:
        for verdict in result.verdicts:
            verdicts[result.notebook, verdict.exercise].append(verdict)
    rows = []
    for found in verdicts.values():
        statuses = Counter(verdict.status for verdict in found)
        mistakes = Counter(verdict.misconception for verdict in found if verdict.misconception)
        mistake = min(mistakes, key=lambda name: (-mistakes[name], name), default=None)  # the most frequent one
        possible = sum(verdict.max_points for verdict in found)
        rows.append(
            {
                "label": found[0].label,
                "share": sum(verdict.points for verdict in found) / possible if possible else 0.0,
                "passed": statuses["passed"],
                "partly": statuses["partly"],
                "wrong": sum(statuses[status] for status in _NOT_RIGHT),
                "open": sum(statuses[status] for status in _UNTRIED),
                "mistake": f"{mistake} ({mistakes[mistake]})" if mistakes else "",
            }
        )
    return sorted(rows, key=lambda row: (row["share"], _in_order(row["label"])))


def _in_order(label: str) -> tuple:
    """The key by which exercises are sorted: "3.9 …" before "3.10 …"."""
    return tuple(map(int, re.findall(r"\d+", label.partition(" ")[0]))), label


def _misconceptions(results) -> list[dict]:
    found = defaultdict(list)
    for result in results:
        for verdict in result.verdicts:
            if verdict.misconception:
                found[verdict.label, verdict.misconception].append((result.student, verdict))
    rows = []
    for (label, name), those in found.items():
        names, hint = _names([student for student, _ in those]), next(iter(those[0][1].advice), "")
        rows.append({"id": name, "label": label, "count": len(those), "names": names, "hint": hint})
    return sorted(rows, key=lambda row: (-row["count"], _in_order(row["label"]), row["id"]))


def _names(students: list[str]) -> str:
    students = sorted(students)
    more = len(students) - _NAMES_SHOWN
    return ", ".join(students[:_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _need_help(results, points, possible) -> list[dict]:
    """Students with fewer than half of the points or three exercises wrong; technical failures are listed elsewhere."""
    stuck, untried, technical = defaultdict(list), defaultdict(list), set()
    for result in results:
        stuck[result.student] += [verdict for verdict in result.verdicts if verdict.status in _NOT_RIGHT]
        untried[result.student] += [verdict for verdict in result.verdicts if verdict.status in _UNTRIED]
        if result.failed_technically:
            technical.add(result.student)
    rows = []
    for student, earned in points.items():
        if student not in technical and (earned < possible / 2 or len(stuck[student]) >= 3):
            words = [f"{one.label} ({one.misconception})" if one.misconception else one.label for one in stuck[student]]
            if others := untried[student]:
                more = f" and {len(others) - 1} more" if len(others) > 1 else ""
                words.append(f"not tried: {others[0].label}{more}")
            rows.append({"student": student, "points": earned, "stuck": ", ".join(words)})
    return sorted(rows, key=lambda row: (row["points"], row["student"]))


def _technical(results) -> list[dict]:
    rows = []
    for result in (result for result in results if result.failed_technically):
        reasons = [result.problem, result.technical]
        lost = [verdict for verdict in result.verdicts if verdict.technical]
        if result.technical and lost:  # which states the reason
            reasons.append(f"not graded: {', '.join(verdict.label for verdict in lost)}")
        else:
            reasons += [f"{verdict.label}: {verdict.technical}" for verdict in lost]
        reason = "; ".join(dict.fromkeys(filter(None, reasons)))
        rows.append({"student": result.student, "notebook": result.notebook, "reason": reason})
    return sorted(rows, key=lambda row: (row["student"], row["notebook"]))


def _repaired(results) -> list[dict]:
    """The repairs of readable files; first those in which an answer is missing."""

    def in_order(result: Result) -> tuple:
        lacks_none = all(verdict.status != "missing" for verdict in result.verdicts)
        return lacks_none, result.student, result.notebook

    return [
        {"student": one.student, "notebook": one.notebook, "what": one.repairs[0], "more": len(one.repairs) - 1}
        for one in sorted(results, key=in_order)
        if one.repairs and not one.problem
    ]


def _untested(results) -> list[dict]:
    """Sentences about tests that seem to be missing, with the students whose notebooks show it; most students first."""
    found = defaultdict(list)
    for result in results:
        for sentence in result.untested:
            found[result.notebook, sentence].append(result.student)
    rows = [{"notebook": notebook, "sentence": sentence, "count": len(students), "names": _names(students)}
            for (notebook, sentence), students in found.items()]  # fmt: skip
    return sorted(rows, key=lambda row: (-row["count"], row["notebook"], row["sentence"]))


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


# --- drawings ---


def _draw_points(points: list[float], possible: float):
    figure, axes = plots.new_figure(4.6, 3.4)
    counts, edges = np.histogram(points, bins=10, range=(0.0, max(possible, max(points), 1.0)))
    axes.bar(edges[:-1], counts, width=np.diff(edges) * 0.92, align="edge", color=plots.BLUE)
    axes.axvline(statistics.median(points), color=plots.ORANGE, linestyle="--", label="median")
    axes.set(xlabel="points", ylabel="students")
    axes.yaxis.get_major_locator().set_params(integer=True)
    axes.grid(axis="x", visible=False)
    axes.set_axisbelow(True)
    axes.legend(frameon=False)
    return figure


def _draw_exercises(exercises: list[dict]):
    """Draws the fraction of students with each exercise right, partly right, wrong, not tried; also by pattern."""
    figure, axes = plots.new_figure(4.6, max(2.2, 0.8 + 0.36 * len(exercises)))
    kinds = (("passed", "right", plots.GREEN, ""), ("partly", "partly", "#e0b050", "//"),
             ("wrong", "wrong", plots.ORANGE, "xx"), ("open", "not tried", "#d0d0d0", ""))  # fmt: skip
    labels = [row["label"].replace("$", r"\$") for row in exercises]
    totals = [max(1, sum(row[kind] for kind, *_ in kinds)) for row in exercises]
    left = [0.0] * len(exercises)
    for kind, name, colour, pattern in kinds:
        widths = [row[kind] / total for row, total in zip(exercises, totals)]
        axes.barh(range(len(exercises)), widths, left=left, color=colour, hatch=pattern, edgecolor="white", label=name)
        left = [start + width for start, width in zip(left, widths)]
    axes.set_yticks(range(len(exercises)), labels)
    axes.invert_yaxis()
    axes.set(xlim=(0, 1), xlabel="fraction of students")
    axes.xaxis.set_major_formatter("{x:.0%}")
    axes.grid(visible=False)
    if exercises:
        figure.legend(
            *axes.get_legend_handles_labels(), frameon=False, loc="outside lower center", ncols=4, fontsize=10
        )
    return figure
