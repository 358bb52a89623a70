"""The graded notebook that formgrader shows: the release with a student's answers and the verdicts.

Everything is text: an answer's source, and each verdict as the plain output of its test cell, without inputs or
expected values. Outputs of the student's program are not in it. Formgrader renders Markdown with its HTML and formulas
in the instructor's own browser, so active content in students' answers is converted to plain text.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from autograde.grader.hand_ins.hand_in import copy_for_feedback
from autograde.grader.reading.repair import Submission
from autograde.grader.reading.template import Template, TemplateCell
from autograde.judging.rendering import as_text
from autograde.judging.verdict import Verdict
from bertlab.common.files import write_text

# Commands of MathJax that can link, load, style or redefine; the others only draw
_ACTIVE_FORMULA = re.compile(
    r"\\(href|url|require|style|class|cssId|data|unicode|includegraphics|html\w*|mmlToken|def|let|newcommand)\b"
)
_ENTITY = re.compile(r"&(?=#|\w+;)")  # a browser reads \href in "&#92;href", too


def write_autograded(
    course: str | Path, assignment: str, student: str, template: Template, submission: Submission,
    verdicts: Sequence[Verdict], handed_in: str,
) -> Path:  # fmt: skip
    """Writes `autograded/STUDENT/ASSIGNMENT/NOTEBOOK.ipynb` and its timestamp; returns the notebook's path.

    Also copies what the exchange needs to give feedback back: `nbgrader generate_feedback` takes it from here.
    """
    folder = Path(course, "autograded", student, assignment)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{template.name}.ipynb"
    write_text(path, json.dumps(autograded(template, submission, verdicts), indent=1, ensure_ascii=False) + "\n")
    copy_for_feedback(course, assignment, student, folder)
    if handed_in:
        write_text(folder / "timestamp.txt", handed_in)
    return path


def autograded(template: Template, submission: Submission, verdicts: Sequence[Verdict]) -> dict:
    """The notebook as JSON (nbformat 4.4: cells without ids, so that the same grading gives the same bytes)."""
    said: dict[str, list[str]] = {}
    for verdict in verdicts:
        cell = template.graded_cell(verdict.exercise)
        if cell:
            said.setdefault(cell.grade_id, []).append(as_text(replace(verdict, facts=(), picture=None)))
    cells = []
    notes = [submission.problem.message] if submission.problem else []
    if notes + submission.repairs:
        text = "\n".join(f"    {sentence}" for sentence in notes + submission.repairs)  # indented: shown as it is
        cells.append({"cell_type": "markdown", "metadata": {}, "source": f"**Read by the autograder**\n\n{text}"})
    cells += [_cell(cell, submission, said.get(cell.grade_id, [])) for cell in template.cells]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}


def _cell(cell: TemplateCell, submission: Submission, said: list[str]) -> dict:
    answer = submission.answers.get(cell.grade_id) if cell.role == "answer" else None
    source = answer.source if answer else cell.cell.source
    if answer and cell.cell.kind != "code":
        source = inert_markdown(source)
    written = {"cell_type": cell.cell.kind, "metadata": _metadata(cell), "source": source}
    if cell.cell.kind == "code":
        text = "\n".join(said)
        outputs = [{"output_type": "stream", "name": "stdout", "text": f"{text}\n"}] if text else []
        written |= {"execution_count": None, "outputs": outputs}
    return written


def inert_markdown(text: str) -> str:
    """Markdown without HTML, links under another text, pictures and active formulas; emphasis and lists stay."""
    text = _ENTITY.sub("&amp;", text).replace("<", "&lt;").replace("[", "&#91;")
    return _ACTIVE_FORMULA.sub(r"\\text{\1}", text)


def _metadata(cell: TemplateCell) -> dict:
    if cell.grade_id is None:
        return {}
    source = cell.cell
    graded = {
        "schema_version": 3, "grade_id": cell.grade_id, "cell_type": source.kind, "grade": source.graded,
        "solution": source.solution, "locked": source.locked, "task": False,
    }  # fmt: skip
    return {"nbgrader": graded | ({"points": source.points} if source.graded else {})}
