"""`autograde policy` and `autograde total`: from assignments to a course grade."""

from dataclasses import replace
from pathlib import Path

import click

from autograde.cli.options import CourseError, course_option, gradebook_of
from autograde.grader.book.policy import POLICY, totals
from bertlab.common.files import write_text


@click.command()
@course_option
@click.option("--late-days", type=click.IntRange(0), help="Free late days of each student over the term.")
@click.option("--drop-lowest", type=click.IntRange(0), help="So many assignments with the lowest share do not count.")
@click.option("--weight", "weights", multiple=True, metavar="ASSIGNMENT=NUMBER",
              help="Weight of an assignment (default: 1; 0: it does not count); repeat for more.")  # fmt: skip
@click.option("--timezone", help="Time zone of the course, such as Europe/Berlin.")
def policy(course, late_days, drop_lowest, weights, timezone):
    """Set, or show without options, what `autograde total` and late penalties go by.

    \b
    Example:
      autograde policy --late-days 4 --drop-lowest 1 --weight ps7=2 --timezone Europe/Berlin
    """
    from autograde.grader.book.course import set_zone, zone_of

    current = POLICY.load(course)
    changed = replace(
        current,
        late_days=current.late_days if late_days is None else late_days,
        drop_lowest=current.drop_lowest if drop_lowest is None else drop_lowest,
        weights=current.weights | dict(_weight(pair) for pair in weights),
    )
    if changed != current:
        POLICY.save(changed, course)
    if timezone:
        set_zone(course, timezone)
    listed = ", ".join(f"{name} {weight:g}" for name, weight in changed.weights.items()) or "1 for all"
    click.echo(
        f"late days: {changed.late_days}; lowest dropped: {changed.drop_lowest}; weights: {listed}; "
        f"time zone: {zone_of(course).key}"
    )


def _weight(pair: str) -> tuple[str, float]:
    name, _, number = pair.partition("=")
    try:
        weight = float(number)
    except ValueError:
        weight = -1.0
    if not name or not 0 <= weight < float("inf"):
        raise click.BadParameter(f"expected ASSIGNMENT=NUMBER, a number of 0 or more, got {pair!r}")
    return name, weight


@click.command()
@course_option
@click.option("--to", "path", type=click.Path(dir_okay=False, path_type=Path),
              help="Write to this file instead of standard output.")  # fmt: skip
def total(course, path):
    """Print a CSV with each student's course grade in percent, from all assignments and the policy of the course.

    \b
    Example:
      autograde total --course course --to course_grades.csv

    An assignment that a student did not hand in counts 0; one that nobody has handed in does not count yet.
    """
    from autograde.grader.book.people import namer
    from autograde.grader.exports.tables import table

    with gradebook_of(course) as book:
        book.write_late_penalties()
        rows = book.grades()
    given = {row["assignment"] for row in rows if row["submitted"]}
    if not given:
        raise CourseError(f"{course}: nothing is graded yet; run `autograde grade` first")
    unknown = sorted(set(POLICY.load(course).weights) - {row["assignment"] for row in rows})
    if unknown:
        raise CourseError(
            f"{course}: expected weights of this course's assignments, got one of {unknown[0]!r}; "
            "correct it with `autograde policy`"
        )
    names, name = sorted(given), namer(course)
    found = totals([row for row in rows if row["assignment"] in given], POLICY.load(course))
    lines = [
        [
            one.student,
            name(one.student),
            *(100 * one.shares.get(key, 0.0) for key in names),
            " ".join(one.dropped),
            one.percent,
        ]
        for one in found
    ]
    text = table([["student", "name", *(f"{key} %" for key in names), "dropped", "course grade %"], *lines])
    write_text(path, text) if path else click.echo(text, nl=False)
