"""`autograde comments`: the reusable comments of a course, and how often each is used."""

from collections import Counter

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
    from autograde.grader.comments import FILE, read_comments, used
    from autograde.grader.gradebook import Course

    known, counts, unknown = read_comments(course), Counter(), []
    if (course / "gradebook.db").is_file():
        with Course(course) as book:
            for assignment, student, exercise, text in book.comments_by_hand():
                counts.update(set(used(text)))
                unknown += [(assignment, student, exercise, name) for name in used(text) if name not in known]
    for name, text in known.items():
        click.echo(f"{counts[name]:4}  #{name}  {text}")
    if not known:
        click.echo(f'{course / FILE}: no comments yet; write lines such as state-the-shape = "State the shape of …"')
    for assignment, student, exercise, name in unknown:
        click.echo(f"  not in {FILE}: #{name} in the comment on {exercise} of {student}, {assignment}", err=True)
    if unknown:
        raise SystemExit(1)
