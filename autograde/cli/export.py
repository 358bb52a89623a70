"""`autograde export`: grades for other programs."""

from pathlib import Path

import click

from autograde.cli.options import CourseError, course_option
from autograde.grader import export as grades


@click.command()
@click.argument("assignments", nargs=-1)
@course_option
@click.option("--format", "form", type=click.Choice(grades.FORMATS), default="csv", show_default=True)
@click.option("--canvas-gradebook", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="Fill in Canvas's own export (Grades > Export); keeps its rows and ids.")  # fmt: skip
@click.option("--to", "path", type=click.Path(dir_okay=False, path_type=Path),
              help="Write to this file instead of standard output.")  # fmt: skip
def export(assignments, course, form, canvas_gradebook, path):
    """Export the grades of ASSIGNMENTS (default: all), after late penalties.

    \b
    Example:
      autograde export --course course > grades.csv
      autograde export ps3 --format canvas --canvas-gradebook Grades.csv --to import.csv
    """
    from autograde.grader.gradebook import Course
    from bertlab.files import write_text

    if not (course / "gradebook.db").is_file():
        raise CourseError(f"{course}: expected a course folder with a gradebook.db; name it with --course")
    with Course(course) as book:
        known = [row["assignment"] for row in book.assignments()]
        unknown = sorted(set(assignments) - set(known))
        if unknown:
            there = ", ".join(known) or "none"
            raise CourseError(f"{course}: no assignment {unknown[0]!r} in the gradebook; assignments: {there}")
        rows = book.grades(assignments)
    theirs = canvas_gradebook.read_text(encoding="utf-8-sig") if canvas_gradebook else None
    text = grades.export(rows, "canvas" if theirs is not None else form, theirs)
    if path:
        write_text(path, text)
    else:
        click.echo(text, nl=False)
