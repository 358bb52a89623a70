"""`autograde term`: all assignments of a course on one page, and as tables."""

from pathlib import Path

import click

from autograde.cli.options import course_option, gradebook_of


@click.command()
@course_option
@click.option("--to", "folder", type=click.Path(file_okay=False, path_type=Path),
              help="Write the files to this folder (default: reports in the course).")  # fmt: skip
def term(course, folder):
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
    folder = folder or course / "reports"
    folder.mkdir(parents=True, exist_ok=True)
    for file, text in (
        ("term.html", terms.term_page(students, exercises, names, name)),
        ("term_students.csv", terms.students_csv(students, names, name)),
        ("term_exercises.csv", terms.exercises_csv(exercises)),
    ):
        write_text(folder / file, text)
        click.echo(folder / file)
