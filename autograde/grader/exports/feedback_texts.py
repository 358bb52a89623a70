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
from autograde.grader.book.gradebook import given_by_people
from autograde.grader.book.people import GROUPS
from autograde.grader.grading.results import Result, load_results
from autograde.grader.hand_ins.hand_in import HAND_INS
from autograde.grader.pages.feedback import ExerciseView, exercise_views, feedback_page, points_text
from autograde.grader.reading.template import Template

_MOODLE_FOLDER = re.compile(r"[^/_]+_\d+_assignsubmission_[a-z0-9]+")
_DATE = (1980, 1, 1, 0, 0, 0)  # the same feedback gives the same bytes
Facts = tuple[Result, dict]  # a record, and what its page shows besides


@dataclass
class Packed:
    """A zip for a system. left_out: (student, reason)."""

    content: bytes
    count: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)


def feedback_zip(course: Path, assignment: str, system: str, templates: Mapping[str, Template]) -> Packed:
    """The feedback of all students, with the file names of the platform's download. Raises InputError without any."""
    records, given = HAND_INS.load_all(course, assignment), given_by_people(course, assignment, templates)
    results = defaultdict(list)
    for result in load_results(course, assignment):
        results[result.student].append(result)
    groups, answers = GROUPS.load(course, assignment), defaultdict(dict)
    left_out = [(student, "not graded yet") for student in sorted(records.keys() - results.keys())]
    for student, those in sorted(results.items()):
        record = records.get(student)
        if record is None or record.platform != system:
            came = f"from {record.platform}" if record else "another way"
            left_out.append((student, f"the hand-in came {came}, not from {system}"))
            continue
        name = records.get(record.by, record).name
        of_group = {"name": name} if name and name == groups.of(student) else {}  # the system shows it to all members
        if record.by and not of_group:
            left_out.append((student, f"it is the hand-in of {record.by}, who gets the answer to it"))
            continue
        pack = _for_canvas if system == "canvas" else _for_moodle
        found = pack([(result, given(result) | of_group) for result in those], record.entries)
        if not found:
            left_out.append((student, "no notebook's entry is known; collect the download again"))
        for name, content in found.items():
            answers[name][student] = content
    files = _one_for_each(answers, left_out)
    if not files:
        reason = "; ".join(f"{student}: {reason}" for student, reason in left_out[:5]) or "no results"
        raise InputError(f"{course}: no feedback for {system} ({reason}); collect its download and grade first")
    return Packed(_zipped(files), len(results.keys() - {student for student, _ in left_out}), left_out)


def _one_for_each(answers: Mapping[str, Mapping[str, bytes]], left_out: list[tuple[str, str]]) -> dict[str, bytes]:
    """One answer to each entry: that of most members of a group. One member's own feedback is nobody else's."""
    files, reason = {}, "the system shows one feedback to the whole group, and this student's is another; mail it"
    for name, those in answers.items():
        (content, count), *rest = Counter(those.values()).most_common(2)
        if not rest or count > rest[0][1]:
            files[name] = content
        left_out += [(student, reason) for student, one in those.items() if files.get(name) != one]
    return files


def _for_canvas(results: list[Facts], entries: Mapping[str, str]) -> dict[str, bytes]:
    """An answer to each entry that a notebook came in, of the kind that the entry's name has."""
    by_entry = defaultdict(list)
    for result, more in results:
        if entry := entries.get(f"{result.notebook}.ipynb"):
            by_entry[PurePosixPath(entry).name].append((result, more))
    return {entry: _like(entry, those) for entry, those in by_entry.items()}


def _like(entry: str, results: list[Facts]) -> bytes:
    suffix = PurePosixPath(entry).suffix.lower()
    if suffix == ".ipynb":
        return _notebook([text for one in results for text in _texts(*one)])
    if suffix == ".py":  # comments
        lines = [line for one in results for text in _texts(*one, written=str) for line in text.splitlines()]
        return "".join(f"# {line}\n" for line in lines).encode()
    pages = {f"{one.notebook}.html": feedback_page(one, **more).encode() for one, more in results}
    return _zipped(pages) if suffix == ".zip" else b"\n".join(pages.values())


def _for_moodle(results: list[Facts], entries: Mapping[str, str]) -> dict[str, bytes]:
    files = {}
    for result, more in results:
        if folder := _MOODLE_FOLDER.search(entries.get(f"{result.notebook}.ipynb", "")):
            files[f"{folder[0]}/{result.notebook}_feedback.html"] = feedback_page(result, **more).encode()
    return files


def _zipped(files: Mapping[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _DATE), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def _notebook(texts: list[str]) -> bytes:
    """A notebook of text cells: opens in Jupyter and Colab, and holds nothing that runs."""
    cells = [
        {"cell_type": "markdown", "id": f"feedback-{number}", "metadata": {}, "source": text}
        for number, text in enumerate(texts)
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    content = {"cells": cells, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def feedback_html(course: Path, assignment: str, templates: Mapping[str, Template]) -> dict[str, str]:
    """student → the feedback in a few lines of HTML: points of each notebook, and exercises with points lost."""
    given, texts = given_by_people(course, assignment, templates), {}
    for result in load_results(course, assignment):
        more = given(result)
        lines = [f"<p><b>{html.escape(more['title'] or result.notebook)}</b>: {points_text(result, **more)}</p>"]
        lines += [f"<p>{html.escape(result.problem)}</p>"] if result.problem else []
        lost = [_line(view, result.problem) for view in exercise_views(result, more["by_hand"]) if _lost(view)]
        lines += ["<ul>", *(f"<li>{html.escape(line)}</li>" for line in lost), "</ul>"] if lost else []
        texts[result.student] = texts.get(result.student, "") + "".join(lines)
    return texts


def _plain(text: str) -> str:
    """Text in which Markdown and HTML mark nothing."""
    return re.sub(r"([\\`*_{}\[\]()#+!|$~-])", r"\\\1", html.escape(text, quote=False))


def _texts(result: Result, more: dict, written: Callable[[str], str] = _plain) -> list[str]:
    """Title, what could not be read, and a line for each exercise. written: how a text is written."""
    late = f" (late: {more['late_penalty']:g} points are deducted)" if more["late_penalty"] else ""
    head = f"# {written(more['title'] or result.notebook)}: {points_text(result, **more)}{late}"
    lines = [f"- {written(_line(view, result.problem))}" for view in exercise_views(result, more["by_hand"])]
    return [head, *([written(result.problem)] if result.problem else []), *lines]


def _lost(view: ExerciseView) -> bool:
    return view.points < view.verdict.max_points or bool(view.comment)


def _line(view: ExerciseView, known: str | None = None) -> str:
    """One exercise: its name, points, and the first advice or the instructor's comment, except what is known."""
    verdict = view.verdict
    reason = view.comment or next((one for one in verdict.advice if one != known), "") if _lost(view) else ""
    return f"{verdict.label}: {view.points:g} of {verdict.max_points:g}, {view.words}. {reason}".strip()
