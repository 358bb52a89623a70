"""`autograde report`, `similarity` and `term`, the class on a page; `export`, grades for other programs."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import click

from autograde.cli.options import (
    COURSE,
    FILE_THERE,
    assignment_of,
    gradebook_of,
    read_table,
    results_of,
    templates_of,
    write_file,
    zone_of_course,
)
from autograde.common.texts import one_line
from autograde.grader.book.course import CourseError, local_time, zone_of
from autograde.grader.book.people import GROUPS, People, namer
from autograde.grader.exports import grades
from bertlab.cli.from_signature import FILE, FOLDER, command, option
from bertlab.common.files import write_text

INNOCENT = 0.5  # pairs; the default of `similarity.pairs`, which is loaded only when it is needed
_LISTED = 20


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
    from autograde.grader.grading.whose_weights import with_doubts
    from autograde.grader.pages.report import report_page

    name, zone = namer(course), zone_of(course)
    results = [
        replace(result, student=name(result.student), handed_in=local_time(result.handed_in, zone))
        for result in with_doubts(results_of(course, assignment), course, assignment, name)
    ]
    page = report_page(results, assignment, *_points_by_hand(course, assignment))
    click.echo(write_file(path or course / "reports" / f"{assignment}.html", page))


def _points_by_hand(course: Path, assignment: str) -> tuple:
    """The graders' parts, and points to look at, as the page shows them."""
    from autograde.grader.book.gradebook import Gradebook
    from autograde.grader.book.manual_points import SHARES, parts_of
    from autograde.grader.book.sheets import progress

    if not (course / "gradebook.db").is_file():
        return ()
    with Gradebook(course) as book:
        if all(one.name != assignment for one in book.book.assignments):
            return ()
        parts = parts_of(book, assignment, templates_of(course, assignment))
    return progress(parts, SHARES.load(course, assignment))


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
    from autograde.grader.similarity.pairs import compare, similarity_page

    name = _titles(course, assignment, (lambda student: student) if as_json else namer(course))
    answers = _answers(course, assignment, templates_of(course, assignment))
    answers = {student: those for student, those in answers.items() if student in name}
    comparison = compare({name[student]: those for student, those in answers.items()}, innocent)
    if as_json:
        click.echo(json.dumps(_as_json(comparison), indent=1))
        return
    path = path or course / "reports" / f"{assignment}-similarity.html"
    write_file(path, similarity_page(comparison, assignment, most))
    click.echo(
        f"{len(answers)} submissions; pairs more alike than by chance: {len(comparison.listed)}, "
        f"innocent ones to expect among them: {innocent:g}; groups: {len(comparison.rings)}. {path}"
    )


def _titles(course: Path, assignment: str, name) -> dict[str, str]:
    """student → name on the page. A group is compared as one: "Group 1: Jane Doe (jane), Ben Roe (ben)"."""
    from autograde.grader.book.group_hand_ins import who_handed_in

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
        if template := templates.get(path.stem):
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
    from autograde.grader.grading.grade import assignments
    from autograde.grader.grading.results import load_results

    with gradebook_of(course) as book:
        book.write_late_penalties()
        rows = book.grades()
    given = {row["assignment"] for row in rows if row["submitted"]}
    names = [name for name in assignments(course) if name in given]
    exercises = terms.exercise_rows({name: list(load_results(course, name)) for name in names})
    students, name = terms.student_rows(rows, names), namer(course)
    for file, text in (
        ("term.html", terms.term_page(students, exercises, names, name)),
        ("term_students.csv", terms.students_csv(students, names, name)),
        ("term_exercises.csv", terms.exercises_csv(exercises)),
    ):
        click.echo(write_file((folder or course / "reports") / file, text))


@command()
def export(
    assignments: tuple[str, ...] = (),
    *,
    course: FOLDER = COURSE,
    form: str | None = option(None, "Write this format (default: csv).", "--format", choices=grades.FORMATS),
    canvas_gradebook: FILE_THERE = option(
        None, "Fill in Canvas's own export (Grades > Export); keeps its rows and ids."
    ),
    moodle_worksheet: FILE_THERE = option(
        None, "Fill in Moodle's grading worksheet: grade and feedback; keeps its rows."
    ),
    columns: tuple[str, ...] = option(
        (), "The assignment's column in Canvas, where it has another name; repeat for more.", "--column",
        metavar="ASSIGNMENT=NAME",
    ),
    timezone: str | None = option(None, "Time zone of the times (default: the course's).", callback=zone_of_course),
    path: FILE = option(None, "Write to this file instead of standard output.", "--to"),
):  # fmt: skip
    """Export the grades of ASSIGNMENTS (default: all), after late penalties, which are computed again.

    \b
    Example:
      autograde export --course course > grades.csv
      autograde export ps3 --format canvas --canvas-gradebook Grades.csv --to import.csv
      autograde export ps3 --format moodle --moodle-worksheet Grades-ps3.csv --to import.csv

    A student is found in a table of Canvas or Moodle by the number in the file that was collected, else by login,
    e-mail or name. Exit code 1: a graded student has no row, a row has no student, or the system takes no grade in it
    (excused, not assigned, locked); all of them are listed.
    """
    form = _checked_format(form, canvas_gradebook, moodle_worksheet, columns)
    with gradebook_of(course) as book:
        for name in sorted(assignments):
            assignment_of(book, course, name)
        book.write_late_penalties()
        rows = grades.in_zone(book.grades(assignments), timezone)
    if form in ("canvas", "moodle"):
        rows = grades.must_be_graded(rows, assignments)
    feedback, named = {}, dict(pair.split("=", 1) for pair in columns)
    if moodle_worksheet:
        from autograde.grader.exports.feedback_texts import feedback_html

        graded = rows[0]["assignment"]
        feedback = feedback_html(course, graded, templates_of(course, graded))
    theirs = canvas_gradebook or moodle_worksheet
    filled = grades.export(rows, form, read_table(theirs) if theirs else None, named, feedback)
    people = People(course)
    for student, name in filled.names.items():
        people.learn(student, name=people[student].name or name)
    people.save()
    if path:
        write_text(path, filled.text)
    else:
        click.echo(filled.text, nl=False)
    for line in _messages(filled, grades.still_open(course, rows)):
        click.echo(one_line(line), err=True)  # names in a table of another system
    sys.exit(not filled.is_complete)


def _checked_format(form: str | None, canvas_gradebook, moodle_worksheet, columns) -> str:
    """The format; of a table that is filled in, that of its system. Raises UsageError where an option has no effect."""
    if canvas_gradebook and moodle_worksheet:
        raise click.UsageError("expected --canvas-gradebook or --moodle-worksheet, not both")
    if columns and not canvas_gradebook:
        raise click.UsageError("--column names a column of Canvas's gradebook; name its file with --canvas-gradebook")
    wrong = [pair for pair in columns if "=" not in pair]
    if wrong:
        raise click.BadParameter(f"expected ASSIGNMENT=NAME, got {wrong[0]!r}")
    system = "canvas" if canvas_gradebook else "moodle" if moodle_worksheet else None
    if system and form not in (None, system):
        raise click.UsageError(f"expected --format {system} or none with this table, got {form}")
    return system or form or "csv"


def _messages(filled, notes) -> list[str]:
    lists = (
        ("graded and without a row", filled.without_row),
        ("rows without a student of the course", filled.without_student),
        ("graded, and left as they are because the system takes no grade there", filled.refused),
        ("rows of students who handed nothing in, left as they are", filled.without_grade),
    )
    lines = []
    for title, names in lists:
        if names:
            lines.append(f"{len(names)} {title}:")
            lines += [f"  {name}" for name in names[:_LISTED]]
            lines += [f"  … and {len(names) - _LISTED} more"] if len(names) > _LISTED else []
    return [*lines, *(f"note: {note}" for note in (*notes, *filled.notes))]
