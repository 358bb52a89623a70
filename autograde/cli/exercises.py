"""`autograde exercises`, `new-exercise`, `try` and `variants`: the catalogue."""

import sys
from functools import partial

import click

from autograde.cli.options import COURSE, EXERCISES, FILE_THERE, FOLDER_THERE, CourseError, quiet_tensorflow
from bertlab.cli.from_signature import FOLDER, command, option


@command(json="Print one JSON list for scripts.")
def exercises(notebook: str | None = None, *, own_exercises: FOLDER_THERE = EXERCISES):
    """List the exercises of NOTEBOOK, or of the course: points, names, and mistakes they recognise.

    \b
    Example:
      autograde exercises
      autograde exercises 03_attention --json
    """
    from autograde.exercises import catalogue

    listed = catalogue.of_notebook(notebook) if notebook else catalogue.EXERCISES
    if not listed:
        known = ", ".join(dict.fromkeys(exercise.notebook for exercise in catalogue.EXERCISES))
        raise CourseError(f"notebook {notebook!r} has no exercises; notebooks with exercises: {known}")
    fields = ("id", "notebook", "number", "title", "points", "names")
    rows = [{name: getattr(exercise, name) for name in fields} for exercise in listed]
    for row, exercise in zip(rows, listed):
        row["misconceptions"] = [misconception.id for misconception in exercise.misconceptions]
    yield rows, catalogue.table(listed)


@command()
def new_exercise(notebook: str, name: str, *, own_exercises: FOLDER = EXERCISES):  # a folder that it makes
    """Add an exercise NAME to NOTEBOOK: cells, module, and other answers, to fill in.

    \b
    Example:
      autograde new-exercise 03_attention mean-of-heads
      autograde try mean-of-heads
      autograde new-exercise 09_pooling mean-pooling --exercises my_folder
    """
    from autograde.exercises import scaffold

    for path in scaffold.new_exercise(notebook, name):
        click.echo(path)
    own = f" --exercises {own_exercises}" if own_exercises else ""
    click.echo(f"Fill them in, then run: autograde try {name}{own}")


@command("try", json="Print one JSON list for scripts.")
def try_exercise(
    names: tuple[str, ...],
    *,
    draws: int = option(0, "Also compare the verdicts on this many fresh draws.", at_least=0),
    variant: int = option(0, "Prove the variant with this number; 0: the values written in the notebook.", at_least=0),
    own_exercises: FOLDER_THERE = EXERCISES,
):
    """Prove the exercises NAMES and print what was found; exit with code 1 if a proof fails.

    \b
    Example:
      autograde try scores
      autograde try scores softmax-rows --draws 30

    The solution must earn every point and the stub none; every misconception must fail and be recognised; no two may
    give the same answers; the tolerance must lie between rounding and the nearest mistake; other right answers must
    pass. A list of the exercise's gaps follows, such as a sentence that no part tests; they are not failures.
    """
    from autograde.exercises import catalogue, gaps
    from autograde.exercises.proofs import Proofs
    from bertlab.common.backend import load_backend
    from bertlab.common.progress import track

    exercises = [catalogue.find(name, variant) for name in names]
    quiet_tensorflow()
    load_backend()
    rows = []
    for exercise in exercises:
        findings = Proofs(exercise).run(draws, partial(track, description=f"{exercise.number}, draws", lines=True))
        rows += [{"exercise": exercise.id, **vars(finding)} for finding in findings]
        yield None, _proofs(exercise, findings, gaps.of_exercise(exercise))
    yield rows, None
    sys.exit(any(row["problems"] for row in rows))


def _proofs(exercise, findings, gaps) -> str:
    lines = [f"{exercise.number} {exercise.title} ({exercise.id}, {exercise.notebook})"]
    for finding in findings:
        mark = "✗" if finding.problems else "✓"
        lines.append(f"  {mark} {finding.proof:<42} {finding.looked_at:<32} {finding.seconds:6.2f} s")
        lines += [f"      {line}" for problem in finding.problems for line in problem.splitlines()]
    failed = sum(bool(finding.problems) for finding in findings)
    lines.append(f"  {len(findings) - failed} of {len(findings)} proofs hold")
    lines += ["  not there yet:", *(f"    - {gap}" for gap in gaps)] if gaps else []
    return "\n".join(lines)


@command()
def variants(
    assignment: str,
    *,
    course: FOLDER = COURSE,
    students: FILE_THERE = option(None, "CSV with a column `student` (default: all students in the gradebook)."),
    folder: FOLDER = option(None, "Write STUDENT/NOTEBOOK.ipynb to this folder, for handing out.", "--to"),
    own_exercises: FOLDER_THERE = EXERCISES,
):
    """Show which student has which variant of ASSIGNMENT; with --to, write each student's notebooks.

    \b
    Example:
      autograde variants ps3 --students class.csv --to build/ps3
      autograde variants ps3

    The variants are released with the assignment, if its notebooks have any. A student's number follows from the
    course's secret; the members of a group have the same one, so set groups first.
    """
    from autograde.grader.book import variants as who
    from autograde.grader.book.people import known_students
    from autograde.grader.grading.grade import open_assignment
    from autograde.grader.hand_ins.roster import roster_of

    templates = open_assignment(course, assignment).templates
    if not any(template.editions for template in templates.values()):
        raise CourseError(f"{assignment}: its notebooks have no variants; the instructor guide shows how to add some")
    names = sorted(roster_of(students).people if students else known_students(course))
    if not names:
        raise CourseError(f"{course}: expected students; name a CSV with --students")
    if folder:
        paths = who.hand_out(course, assignment, names, templates, folder)
        click.echo(f"{len(paths)} notebooks in {folder}", err=True)
    for line in who.of_several(course, assignment):
        click.echo(f"note: {line}", err=True)
    click.echo("student,notebook,variant,values")
    for student in names:
        for notebook, number in who.numbers_of(course, assignment, student, templates).items():
            values = templates[notebook].edition(number).values
            click.echo(f"{student},{notebook},{number},{' '.join(f'{name}={value}' for name, value in values)}")
