"""`autograde report`: the class on one page."""

from pathlib import Path

import click

from autograde.cli.options import course_option, results_of, templates_of


@click.command()
@click.argument("assignment")
@course_option
@click.option("--to", "path", type=click.Path(dir_okay=False, path_type=Path),
              help="Write it to this file (default: reports/ASSIGNMENT.html in the course).")  # fmt: skip
def report(assignment, course, path):
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
    path = path or course / "reports" / f"{assignment}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_report(path, results, assignment, **_by_hand(course, assignment))
    click.echo(path)


def _by_hand(course: Path, assignment: str) -> dict:
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
