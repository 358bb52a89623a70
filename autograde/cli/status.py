"""`autograde status`: the state of each assignment."""

import json
from pathlib import Path

import click

from autograde.cli.options import CourseError, course_option


@click.command()
@click.argument("assignments", nargs=-1)
@course_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list for scripts.")
def status(assignments, course, as_json):
    """Count the submissions of each assignment: handed in, graded, outdated, waiting for you.

    \b
    Example:
      autograde status --course course
      autograde status ps3 --json
    """
    known = _assignments(course)
    unknown = sorted(set(assignments) - set(known))
    if unknown:
        raise CourseError(f"{course}: no assignment {unknown[0]!r}; assignments: {', '.join(known) or 'none'}")
    names = assignments or known
    rows = [_row(course, name) for name in names]
    _add_gradebook(course, rows)
    if as_json:
        click.echo(json.dumps(rows, indent=1))
    elif not rows:
        click.echo(f"{course}: no assignments yet (nothing in release/, submitted/ or results/)")
    else:
        click.echo(_table(rows))


def _assignments(course: Path) -> list[str]:
    folders = [*course.glob("release/*/"), *course.glob("submitted/*/*/"), *course.glob("results/*/")]
    return sorted({folder.name for folder in folders if not folder.name.startswith(".")})


def _row(course: Path, assignment: str) -> dict:
    from autograde.grader.grading.results import load_results
    from autograde.grader.hand_ins.digests import digest

    submitted = sorted(path for path in course.glob(f"submitted/*/{assignment}/*.ipynb") if path.is_file())
    graded = {(result.student, result.notebook): result for result in load_results(course, assignment)}
    outdated = 0
    for path in submitted:
        result = graded.get((path.parent.parent.name, path.stem))
        outdated += bool(result and result.sha256 and result.sha256 != digest(path))
    return {
        "assignment": assignment,
        "submitted": len(submitted),
        "graded": len(graded),
        "outdated": outdated,
        "technical": sum(result.failed_technically for result in graded.values()),
        "feedback": len(list(course.glob(f"feedback/*/{assignment}/*.html"))),
        "due": "",
        "needs_manual_grade": 0,
    }


def _add_gradebook(course: Path, rows: list[dict]) -> None:
    """Due dates and hand grading, which only the gradebook knows."""
    if not (course / "gradebook.db").is_file() or not rows:
        return
    from autograde.grader.book.course import local_time, zone_of
    from autograde.grader.book.gradebook import Gradebook

    zone = zone_of(course)
    with Gradebook(course) as book:
        known = {row["assignment"]: row for row in book.assignments()}
    for row in rows:
        if row["assignment"] in known:
            row["due"] = local_time(known[row["assignment"]]["due"], zone)
            row["needs_manual_grade"] = known[row["assignment"]]["needs_manual_grade"]


_COLUMNS = {"submitted": "notebooks in", "graded": "graded", "outdated": "outdated", "technical": "technical",
            "needs_manual_grade": "wait for you", "feedback": "feedback"}  # fmt: skip


def _table(rows: list[dict]) -> str:
    lines = ["  ".join([f"{'assignment':<16}", *_COLUMNS.values(), "due"])]
    for row in rows:
        counts = [f"{row[column]:>{len(title)}}" for column, title in _COLUMNS.items()]
        lines.append("  ".join([f"{row['assignment']:<16}", *counts, row["due"]]).rstrip())
    return "\n".join(lines)
