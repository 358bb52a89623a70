"""`autograde similarity`: finds similar answers."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from autograde.cli.options import CourseError, course_option, templates_of

INNOCENT = 0.5  # pairs; the default of `similarity.pairs`, which is loaded only when it is needed


@click.command()
@click.argument("assignment")
@course_option
@click.option("--to", "path", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the page to this file (default: reports/ASSIGNMENT-similarity.html).")  # fmt: skip
@click.option("--most", default=30, show_default=True, help="Show at most this many pairs side by side.")
@click.option("--innocent", default=INNOCENT, show_default=True, type=click.FloatRange(0, min_open=True),
              help="List pairs as long as we expect at most this many innocent pairs among them.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the pairs as JSON and write no page.")
def similarity(assignment, course, path, most, innocent, as_json):
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
    path = path or course / "reports" / f"{assignment}-similarity.html"
    path.parent.mkdir(parents=True, exist_ok=True)
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
