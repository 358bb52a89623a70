"""`autograde groups`: who hands in together."""

from pathlib import Path

import click

from autograde.cli.options import course_option


@click.command()
@click.argument("assignment")
@click.argument("source", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@course_option
def groups(assignment, source, course):
    """Set the groups that hand in ASSIGNMENT together, from the CSV file SOURCE; without SOURCE, show them.

    \b
    Example:
      autograde groups ps3 groups.csv
      autograde groups ps3

    SOURCE has the columns group and student, or it is Canvas's list of a group set, or Moodle's grading worksheet.
    The newest hand-in of a group counts for all of its members. Set the groups before you collect.
    When groups change, set them again: who has left a group no longer has its hand-in, nor the grade for it.
    Where questions have variants, set the groups before you hand these out, so that a group has one variant.
    """
    from autograde.grader.book import variants
    from autograde.grader.book.group_hand_ins import spread, strangers, who_handed_in
    from autograde.grader.book.groups import GROUPS, groups_of
    from autograde.grader.book.people import People, namer

    if source:
        people = People(course)
        GROUPS.save(groups_of(source, people), course, assignment)
        people.save()
    found = GROUPS.load(course, assignment)
    for group, student in strangers(course, assignment):
        click.echo(
            f"note: {student!r} ({group}) is not a student of this course and gets no hand-in of the group; correct "
            f"the name, or add the student with `nbgrader db student add {student}`", err=True)  # fmt: skip
    for line in spread(course, assignment) if source else ():
        click.echo(line)
    handed_in = who_handed_in(course, assignment)
    name, later = namer(course), _collected_before(course, assignment, found)
    for group, members in found.members.items():
        state = "handed in" if group in handed_in else "nothing handed in"
        click.echo(f"{group}: {', '.join(map(name, members))}; {state}")
    if not found.members:
        click.echo(f"{assignment}: no groups")
    for line in variants.of_several(course, assignment):
        click.echo(f"note: {line}", err=True)
    for student in later:
        click.echo(
            f"note: {student!r} was collected as a student and is a group; run `autograde forget {student}`, then "
            "collect again", err=True)  # fmt: skip


def _collected_before(course: Path, assignment: str, found) -> list[str]:
    """Folders that an earlier download made for what are groups now."""
    return [
        folder.parent.name
        for folder in sorted(course.glob(f"submitted/*/{assignment}"))
        if found.named(folder.parent.name) and not found.of(folder.parent.name)
    ]
