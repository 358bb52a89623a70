"""`autograde comments`: the reusable comments of a course, and how often each is used."""

from collections import Counter
from pathlib import Path

import click

from autograde.cli.options import course_option


@click.command()
@course_option
def comments(course):
    """List the reusable comments of the course, and how many comments by hand use each.

    \b
    Example:
      autograde comments --course course

    Write them to comments.toml in the course folder, one per line: state-the-shape = "State the shape of …". In a
    comment by hand, #state-the-shape stands for the text. Exit code 1: a comment by hand uses an id that is not in the
    file; they are listed.
    """
    from autograde.grader.book.comments import COMMENTS, FILE, used

    known, by_hand = COMMENTS.load(course), _by_hand(course)
    counts = Counter(name for *_, text in by_hand for name in set(used(text)))
    for name, text in known.items():
        click.echo(f"{counts[name]:4}  #{name}  {text}")
    if not known:
        click.echo(f'{course / FILE}: no comments yet; write lines such as state-the-shape = "State the shape of …"')
    unknown = unknown_ids(course)
    for line in unknown:
        click.echo(f"  {line}", err=True)
    if unknown:
        raise SystemExit(1)


def unknown_ids(course: Path, assignment: str | None = None) -> list[str]:
    """A sentence for each id in a comment by hand that comments.toml does not have; students would see the id."""
    from autograde.grader.book.comments import COMMENTS, FILE, used

    known = COMMENTS.load(course)
    return [
        f"not in {FILE}: #{name} in the comment on {exercise} of {student}, {of}"
        for of, student, exercise, text in _by_hand(course)
        for name in used(text)
        if name not in known and assignment in (None, of)
    ]


def _by_hand(course: Path) -> list[tuple[str, str, str, str]]:
    """(assignment, student, exercise, text) of the comments by hand."""
    from autograde.grader.book.gradebook import Gradebook

    if not (course / "gradebook.db").is_file():
        return []
    with Gradebook(course) as book:
        return book.comments_by_hand()
