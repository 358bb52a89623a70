"""Feedback in the forms that learning-management systems take back: pages in a zip, or text in a cell.

| system | how feedback gets in | what it checks |
|---|---|---|
| Canvas | Upload Submissions: a zip with the names of the download | user id and file id in each name |
| Moodle | Upload multiple feedback files in a zip: its folders | the participant number in a name |
| Moodle | the column of comments in the grading worksheet | nothing |

Canvas shows the answer under the name of the student's own file, so a notebook gets a notebook back.

Sources: Canvas `app/models/abstract_assignment.rb` (commit 028f76bb, infer_comment_context_from_filename); Moodle
`mod/assign/feedback/file/importziplib.php` (0203d8f2, is_valid_filename_for_import).
"""

import html
import io
import json
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from autograde.common.errors import InputError
from autograde.grader.book.groups import GROUPS
from autograde.grader.book.manual_points.for_feedback import given_by_people
from autograde.grader.grading.results import Result, load_results
from autograde.grader.hand_ins.hand_in import HAND_INS
from autograde.grader.pages.feedback import ExerciseView, exercise_views, feedback_page, points_text
from autograde.grader.reading.template import Template

_MOODLE_FOLDER = re.compile(r"[^/_]+_\d+_assignsubmission_[a-z0-9]+")
_DATE = (1980, 1, 1, 0, 0, 0)  # the same feedback gives the same bytes


@dataclass
class Packed:
    """A zip for a system. left_out: (student, reason)."""

    content: bytes
    count: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)


def feedback_zip(course: Path, assignment: str, system: str, templates: Mapping[str, Template]) -> Packed:
    """The feedback of all students, with the file names of the platform's download. Raises InputError without any."""
    records, given = HAND_INS.load_all(course, assignment), given_by_people(course, assignment, templates)
    results: dict[str, list[Result]] = {}
    for result in load_results(course, assignment):
        results.setdefault(result.student, []).append(result)
    groups, answers = GROUPS.load(course, assignment), defaultdict(dict)
    left_out = [(student, "not graded yet") for student in sorted(records.keys() - results.keys())]
    for student, those in sorted(results.items()):
        record = records.get(student)
        if record is None or record.platform != system:
            came = f"from {record.platform}" if record else "another way"
            left_out.append((student, f"the hand-in came {came}, not from {system}"))
            continue
        original = records.get(record.by, record)
        has_one_entry = original.name and original.name == groups.of(student)  # for the whole group
        group = original.name if has_one_entry else None
        if record.by and not group:
            left_out.append((student, f"it is the hand-in of {record.by}, who gets the answer to it"))
            continue
        pack = _for_canvas if system == "canvas" else _for_moodle
        found = pack(those, record.entries, _for_group(given, group) if group else given)
        if not found:
            left_out.append((student, "no notebook's entry is known; collect the download again"))
        for name, content in found.items():
            answers[name][student] = content
    files = _one_for_each(answers, left_out)
    if not files:
        reason = "; ".join(f"{student}: {reason}" for student, reason in left_out[:5]) or "no results"
        raise InputError(f"{course}: no feedback for {system} ({reason}); collect its download and grade first")
    return Packed(_zipped(files), len(results.keys() - {student for student, _ in left_out}), left_out)


def _for_group(given: Callable, group: str) -> Callable:
    """The facts of a member's page with the name of the group: the system shows it to all members."""
    return lambda result: given(result) | {"name": group}


def _one_for_each(answers: Mapping[str, Mapping[str, bytes]], left_out: list[tuple[str, str]]) -> dict[str, bytes]:
    """One answer to each entry: that of most members of a group. One member's own feedback is nobody else's."""
    files, reason = {}, "the system shows one feedback to the whole group, and this student's is another; mail it"
    for name, those in answers.items():
        (content, count), *rest = Counter(those.values()).most_common(2)
        if not rest or count > rest[0][1]:
            files[name] = content
        left_out += [(student, reason) for student, one in those.items() if files.get(name) != one]
    return files


def _for_canvas(results: list[Result], entries: Mapping[str, str], given: Callable) -> dict[str, bytes]:
    """An answer to each entry that a notebook came in, of the kind that the entry's name has."""
    by_entry: dict[str, list[Result]] = {}
    for result in results:
        entry = entries.get(f"{result.notebook}.ipynb")
        if entry:
            by_entry.setdefault(PurePosixPath(entry).name, []).append(result)
    return {entry: _like(entry, those, given) for entry, those in by_entry.items()}


def _like(entry: str, results: list[Result], given: Callable) -> bytes:
    suffix = PurePosixPath(entry).suffix.lower()
    if suffix == ".zip":
        return _zipped({f"{one.notebook}.html": feedback_page(one, **given(one)).encode() for one in results})
    if suffix == ".ipynb":
        return as_notebook(results, given)
    if suffix == ".py":
        return as_comments(results, given)
    return "\n".join(feedback_page(one, **given(one)) for one in results).encode()


def _for_moodle(results: list[Result], entries: Mapping[str, str], given: Callable) -> dict[str, bytes]:
    files = {}
    for result in results:
        folder = _MOODLE_FOLDER.search(entries.get(f"{result.notebook}.ipynb", ""))
        if folder:
            files[f"{folder[0]}/{result.notebook}_feedback.html"] = feedback_page(result, **given(result)).encode()
    return files


def _zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def as_notebook(results: list[Result], given: Callable) -> bytes:
    """The feedback as a notebook of text cells: opens in Jupyter and Colab, and holds nothing that runs."""
    cells = [
        {"cell_type": "markdown", "id": f"feedback-{number}", "metadata": {}, "source": text}
        for number, text in enumerate(text for one in results for text in _texts(one, given(one)))
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    content = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def as_comments(results: list[Result], given: Callable) -> bytes:
    """The feedback as a Python file of comments: for a script that was handed in."""
    texts = [text for one in results for text in _texts(one, given(one), str)]
    lines = [line for text in texts for line in text.splitlines()]
    return "".join(f"# {line}\n" for line in lines).encode()


def feedback_html(course: Path, assignment: str, templates: Mapping[str, Template]) -> dict[str, str]:
    """student → the feedback in a few lines of HTML: points of each notebook, and exercises with points lost."""
    given, texts = given_by_people(course, assignment, templates), {}
    for result in load_results(course, assignment):
        more = given(result)
        points = points_text(result, **more)
        lines = [f"<p><b>{html.escape(more.get('title') or result.notebook)}</b>: {points}</p>"]
        lines += [f"<p>{html.escape(result.problem)}</p>"] if result.problem else []
        lost = [
            f"<li>{html.escape(_line(view, result.problem))}</li>"
            for view in exercise_views(result, more.get("by_hand"))
            if _lost(view)
        ]
        lines += ["<ul>", *lost, "</ul>"] if lost else []
        texts[result.student] = texts.get(result.student, "") + "".join(lines)
    return texts


def _plain(text: str) -> str:
    """Text in which Markdown and HTML mark nothing."""
    return re.sub(r"([\\`*_{}\[\]()#+!|$~-])", r"\\\1", html.escape(text, quote=False))


def _texts(result: Result, more: dict, written: Callable[[str], str] = _plain) -> list[str]:
    """Title, what could not be read, and a line for each exercise. written: how a text is written."""
    late = f" (late: {more['late_penalty']:g} points are deducted)" if more.get("late_penalty") else ""
    head = f"# {written(more.get('title') or result.notebook)}: {points_text(result, **more)}{late}"
    lines = [written(_line(view, result.problem)) for view in exercise_views(result, more.get("by_hand"))]
    problem = [written(result.problem)] if result.problem else []
    return [head, *problem, *(f"- {line}" for line in lines)]


def _lost(view: ExerciseView) -> bool:
    return view.points < view.verdict.max_points or bool(view.comment)


def _line(view: ExerciseView, known: str | None = None) -> str:
    """One exercise: its name, points, and the first advice or the instructor's comment, except what is known."""
    verdict = view.verdict
    reason = view.comment or next((one for one in verdict.advice if one != known), "") if _lost(view) else ""
    return f"{verdict.label}: {view.points:g} of {verdict.max_points:g}, {view.words}. {reason}".strip()
