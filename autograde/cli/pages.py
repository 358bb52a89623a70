"""`autograde report`, `similarity` and `term`: the class on a page."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from autograde.cli.options import COURSE, CourseError, gradebook_of, make_parent, results_of, templates_of
from bertlab.cli.from_signature import FILE, FOLDER, command, option

INNOCENT = 0.5  # pairs; the default of `similarity.pairs`, which is loaded only when it is needed


@command()
def report(
    assignment: str,
    *,
    course: FOLDER = COURSE,
    path: FILE = option(None, "Write it to this file (default: reports/ASSIGNMENT.html in the course).", "--to"),
):
    """Write the class report: points, hardest exercises, most common mistakes, who needs help, technical failures.

    \b
    Example:
      autograde report ps3 --course course
    """
    from dataclasses import replace

    from autograde.grader.book.course import local_time, zone_of
    from autograde.grader.book.people import namer
    from autograde.grader.grading.whose_weights import with_doubts
    from autograde.grader.pages.report import write_report

    name, zone = namer(course), zone_of(course)
    results = [
        replace(result, student=name(result.student), handed_in=local_time(result.handed_in, zone))
        for result in with_doubts(results_of(course, assignment), course, assignment, name)
    ]
    path = make_parent(path or course / "reports" / f"{assignment}.html")
    write_report(path, results, assignment, **_points_by_hand(course, assignment))
    click.echo(path)


def _points_by_hand(course: Path, assignment: str) -> dict:
    """The graders' parts, and points to look at, as the page shows them."""
    from autograde.grader.book.gradebook import Gradebook
    from autograde.grader.book.manual_points.graders import SHARES
    from autograde.grader.book.manual_points.parts import parts_of
    from autograde.grader.book.manual_points.sheets import progress

    if not (course / "gradebook.db").is_file():
        return {}
    with Gradebook(course) as book:
        if all(row["assignment"] != assignment for row in book.assignments()):
            return {}
        parts = parts_of(book, assignment, templates_of(course, assignment))
    graders, look = progress(parts, SHARES.load(course, assignment))
    return {"graders": graders, "look": look}


@command()
def similarity(
    assignment: str,
    *,
    course: FOLDER = COURSE,
    path: FILE = option(None, "Write the page to this file (default: reports/ASSIGNMENT-similarity.html).", "--to"),
    most: int = option(30, "Show at most this many pairs side by side."),
    innocent: float = option(
        INNOCENT, "List pairs as long as we expect at most this many innocent pairs among them.", above=0
    ),
    as_json: bool = option(False, "Print the pairs as JSON and write no page.", "--json"),
):
    """Compare all submissions of ASSIGNMENT and show pairs that are more alike than the class is by chance.

    \b
    Example:
      autograde similarity ps3 --course course
    """
    from autograde.grader.book.people import namer
    from autograde.grader.similarity.page import similarity_page
    from autograde.grader.similarity.pairs import compare
    from bertlab.common.files import write_text

    name = _titles(course, assignment, (lambda student: student) if as_json else namer(course))
    answers = _answers(course, assignment, templates_of(course, assignment))
    answers = {student: those for student, those in answers.items() if student in name}
    comparison = compare({name[student]: those for student, those in answers.items()}, innocent)
    if as_json:
        click.echo(json.dumps(_as_json(comparison), indent=1))
        return
    path = make_parent(path or course / "reports" / f"{assignment}-similarity.html")
    write_text(path, similarity_page(comparison, assignment, most))
    click.echo(
        f"{len(answers)} submissions; pairs more alike than by chance: {len(comparison.listed)}, "
        f"innocent ones to expect among them: {innocent:g}; groups: {len(comparison.rings)}. {path}"
    )


def _titles(course: Path, assignment: str, name) -> dict[str, str]:
    """student → name on the page. A group is compared as one: "Group 1: Jane Doe (jane), Ben Roe (ben)"."""
    from autograde.grader.book.group_hand_ins import who_handed_in
    from autograde.grader.book.groups import GROUPS

    groups = GROUPS.load(course, assignment)
    titles = {folder.parent.name: name(folder.parent.name) for folder in course.glob(f"submitted/*/{assignment}")}
    for group, student in who_handed_in(course, assignment).items():
        members = groups.members[group]
        titles = {one: title for one, title in titles.items() if one not in members}
        titles[student] = f"{group}: {', '.join(map(name, members))}"
    return titles


def _as_json(comparison) -> dict:
    return {
        "students": len(comparison.students),
        "innocent": comparison.innocent,
        "pairs": [asdict(pair) for pair in comparison.listed],
        "groups": comparison.rings,
        "identical": [asdict(one) for one in comparison.identical],
        "shared": [asdict(one) for one in comparison.shared],
        "hiding": [dict(zip(("student", "exercise", "uses"), row)) for row in comparison.hiding],
    }


def _answers(course: Path, assignment: str, templates: dict) -> dict[str, dict]:
    """Each student's attempted answers by notebook and exercise."""
    from autograde.grader.grading.upstream import submitted_modules
    from autograde.grader.reading.repair import read_submission
    from autograde.grader.similarity.hand_ins import answers_of, given_to_everybody
    from bertlab.common.progress import track

    paths = sorted(course.glob(f"submitted/*/{assignment}/*.ipynb"))
    if not paths:
        raise CourseError(f"{course}: expected submissions in submitted/*/{assignment}; run `autograde collect` first")
    students: dict[str, dict] = {}
    given = given_to_everybody(templates.values())
    for path in track(paths, "Reading"):
        template = templates.get(path.stem)
        if template is None:
            continue
        found = answers_of(read_submission(path, template), template, given, submitted_modules(path.parent)[0])
        before = f"{path.stem}: " if len(templates) > 1 else ""
        mine = students.setdefault(path.parent.parent.name, {})
        mine.update({before + exercise: answer for exercise, answer in found.items()})
    return students


@command()
def term(
    *,
    course: FOLDER = COURSE,
    folder: FOLDER = option(None, "Write the files to this folder (default: reports in the course).", "--to"),
):
    """Write term.html, term_students.csv and term_exercises.csv: progress of each student, difficulty of each exercise.

    \b
    Example:
      autograde term --course course

    Difficulty has a confidence interval: with few students it is wide.
    """
    from autograde.grader.book import term as terms
    from autograde.grader.book.people import namer
    from autograde.grader.grading.grade import assignments
    from autograde.grader.grading.results import load_results
    from bertlab.common.files import write_text

    with gradebook_of(course) as book:
        book.write_late_penalties()
        grades = book.grades()
    given = {row["assignment"] for row in grades if row["submitted"]}
    names = [name for name in assignments(course) if name in given]
    exercises = terms.exercise_rows({name: list(load_results(course, name)) for name in names})
    students, name = terms.student_rows(grades, names), namer(course)
    for file, text in (
        ("term.html", terms.term_page(students, exercises, names, name)),
        ("term_students.csv", terms.students_csv(students, names, name)),
        ("term_exercises.csv", terms.exercises_csv(exercises)),
    ):
        path = make_parent((folder or course / "reports") / file)
        write_text(path, text)
        click.echo(path)
