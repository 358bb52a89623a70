"""The graded notebook that formgrader shows: the release with a student's answers and the verdicts.

Everything is text: an answer's source, and each verdict as the plain output of its test cell, without inputs, expected
values or outputs of the program. Formgrader renders Markdown in the instructor's own browser, so active content in
students' answers is converted to plain text.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from autograde.boundary.mybert_importer import PACKAGE
from autograde.grader.book.gradebook import Gradebook
from autograde.grader.book.policy import LatePenalty
from autograde.grader.grading.results import Result
from autograde.grader.grading.upstream import submitted_modules
from autograde.grader.hand_ins.hand_in import copy_for_feedback
from autograde.grader.reading.repair import ReadSubmission
from autograde.grader.reading.template import Template
from autograde.judging.verdict import Verdict, as_text
from bertlab.common.files import write_json, write_text

# Commands of MathJax that can link, load, style or redefine; the others only draw
_ACTIVE_FORMULA = re.compile(
    r"\\(href|url|require|style|class|cssId|data|unicode|includegraphics|html\w*|mmlToken|def|let|newcommand)\b"
)
_WORD = re.compile(r"\w+")
_LARGEST_MODULE = 50_000  # characters that are shown: formgrader colours the code
_ENTITY = re.compile(r"&(?=#|\w+;)")  # a browser reads \href in "&#92;href", too


def record_results(
    book: Gradebook, graded: Sequence[tuple[Result, ReadSubmission]], templates: Mapping[str, Template],
    penalty: LatePenalty | None = None, others: Iterable[Result] = (),
) -> None:  # fmt: skip
    """Writes one submission's grades: gradebook, then the notebooks for formgrader, then the records. Idempotent.

    others: records of the student's other notebooks, if not all were graded now.
    """
    results = [result for result, _ in graded]
    book.write(results[0].assignment, results[0].student, [*results, *others], templates, penalty)
    for result, submission in graded:
        write_autograded(book.folder, templates[result.notebook].edition(result.variant), result, submission)
    for result in results:
        result.save(book.folder)


def write_autograded(course: str | Path, template: Template, result: Result, submission: ReadSubmission) -> Path:
    """Writes `autograded/STUDENT/ASSIGNMENT/NOTEBOOK.ipynb` and its timestamp; returns the notebook's path.

    Also copies what the exchange needs to give feedback back: `nbgrader generate_feedback` takes it from here.
    """
    folder = Path(course, "autograded", result.student, result.assignment)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{template.name}.ipynb"
    modules = submitted_modules(Path(course, "submitted", result.student, result.assignment))[0]
    write_json(path, autograded(template, submission, result.verdicts, modules))
    copy_for_feedback(course, result.assignment, result.student, folder)
    if result.handed_in:
        write_text(folder / "timestamp.txt", result.handed_in)
    return path


def autograded(
    template: Template,
    submission: ReadSubmission,
    verdicts: Sequence[Verdict],
    modules: Mapping[str, str] | None = None,
) -> dict:
    """The notebook as JSON (nbformat 4.4: cells without ids, so that the same grading gives the same bytes).

    modules: the student's own ones, name → text; those that the notebook uses are shown at its end.
    """
    texts: dict[str, list[str]] = {}  # name of a test cell → its verdicts
    for verdict in verdicts:
        cell = template.graded_cell(verdict.exercise)
        if cell:
            texts.setdefault(cell.grade_id, []).append(as_text(replace(verdict, facts=(), picture=None)))
    cells = []
    notes = [submission.problem.message] if submission.problem else []
    if notes + submission.repairs:
        text = "\n".join(f"    {sentence}" for sentence in notes + submission.repairs)  # indented: shown as it is
        cells.append({"cell_type": "markdown", "metadata": {}, "source": f"**Read by the autograder**\n\n{text}"})
    for cell in template.cells:
        answer = submission.answers.get(cell.grade_id) if cell.role == "answer" else None
        released, source, metadata = cell.cell, answer.source if answer else cell.cell.source, {}
        if answer and released.kind != "code":
            source = inert_markdown(source)
        if cell.grade_id is not None:
            graded = {
                "schema_version": 3, "grade_id": cell.grade_id, "cell_type": released.kind, "grade": released.graded,
                "solution": released.solution, "locked": released.locked, "task": False,
            }  # fmt: skip
            metadata = {"nbgrader": graded | ({"points": released.points} if released.graded else {})}
        written = {"cell_type": released.kind, "metadata": metadata, "source": source}
        if released.kind == "code":
            text = "\n".join(texts.get(cell.grade_id, []))
            outputs = [{"output_type": "stream", "name": "stdout", "text": f"{text}\n"}] if text else []
            written |= {"execution_count": None, "outputs": outputs}
        cells.append(written)
    cells += _module_cells(submission, modules or {})
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}


def _module_cells(submission: ReadSubmission, modules: Mapping[str, str]) -> list[dict]:
    """The own modules whose names occur in the notebook's code, or in a module that is shown, each below its name."""
    used, waiting = [], [cell.source for cell in submission.program if PACKAGE in cell.source]
    while waiting:
        words = set(_WORD.findall(waiting.pop()))
        new = sorted((words & modules.keys()) - set(used))
        used, waiting = used + new, waiting + [modules[name] for name in new]
    cells = []
    for name in used:
        title = f"**{PACKAGE}/{name}.py**, handed in beside the notebook"
        cells.append({"cell_type": "markdown", "metadata": {}, "source": title})
        shown = {"execution_count": None, "outputs": [], "source": modules[name][:_LARGEST_MODULE]}
        cells.append({"cell_type": "code", "metadata": {}} | shown)
    return cells


def inert_markdown(text: str) -> str:
    """Markdown without HTML, links under another text, pictures and active formulas; emphasis and lists stay."""
    text = _ENTITY.sub("&amp;", text).replace("<", "&lt;").replace("[", "&#91;")
    return _ACTIVE_FORMULA.sub(r"\\text{\1}", text)
