"""`autograde similarity`: finds similar answers."""

import json
from pathlib import Path

import click

from autograde.cli.options import CourseError, course_option, templates_of


@click.command()
@click.argument("assignment")
@course_option
@click.option("--to", "path", type=click.Path(dir_okay=False, path_type=Path),
              help="Write the page to this file (default: reports/ASSIGNMENT-similarity.html).")  # fmt: skip
@click.option("--most", default=30, show_default=True, help="Show at most this many pairs side by side.")
@click.option("--json", "as_json", is_flag=True, help="Print the pairs as JSON and write no page.")
def similarity(assignment, course, path, most, as_json):
    """Compare all submissions of ASSIGNMENT, without the released text, and show the most similar pairs.

    \b
    Example:
      autograde similarity ps3 --course course
    """
    from autograde.grader.people import namer
    from autograde.grader.similarity import similar_pairs, similarity_page
    from bertlab.files import write_text

    templates = templates_of(course, assignment)
    name = (lambda student: student) if as_json else namer(course)
    students = {name(student): answers for student, answers in _answers(course, assignment, templates).items()}
    released = {f"{name}: {cell.grade_id}": cell.cell.source for name, t in templates.items() for cell in t.answers}
    pairs = similar_pairs(students, released)
    if as_json:
        fields = ("first", "second", "shared", "share")
        click.echo(json.dumps([{name: getattr(pair, name) for name in fields} for pair in pairs], indent=1))
        return
    path = path or course / "reports" / f"{assignment}-similarity.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, similarity_page(students, pairs, assignment, most))
    click.echo(f"{len(students)} submissions; pairs with rare passages in common: {len(pairs)}. {path}")


def _answers(course: Path, assignment: str, templates: dict) -> dict[str, dict[str, str]]:
    """Each student's code by notebook and exercise."""
    from autograde.grader.repair import read_submission
    from bertlab.progress import track

    students: dict[str, dict[str, str]] = {}
    paths = sorted(course.glob(f"submitted/*/{assignment}/*.ipynb"))
    if not paths:
        raise CourseError(f"{course}: expected submissions in submitted/*/{assignment}; run `autograde collect` first")
    for path in track(paths, "Reading"):
        template = templates.get(path.stem)
        if template is None:
            continue
        answers = read_submission(path, template).answers
        code = {cell.grade_id for cell in template.answers if cell.cell.kind == "code"}
        texts = {f"{path.stem}: {name}": answer.source for name, answer in answers.items() if name in code}
        students.setdefault(path.parent.parent.name, {}).update(texts)
    return students
