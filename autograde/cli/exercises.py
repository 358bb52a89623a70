"""`autograde exercises`, `new-exercise` and `try`, the catalogue; `release`, solutions → student editions."""

import re
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from autograde.cli.options import EXERCISES, FOLDER_THERE, quiet_tensorflow
from autograde.grader.book.course import CourseError, set_exercises, use_exercises_of
from bertlab.cli.from_signature import FOLDER, command, option

DEFAULT = "course"  # the folder of the student editions


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
def release(
    notebooks: tuple[str, ...] = (),
    *,
    folder: FOLDER = option(DEFAULT, "Write the student editions to this folder, as NN_topic/NN_topic.ipynb.", "--to"),
    fingerprints: FOLDER = option(
        None, "Write the inputs of `check` to this folder (default: beside the student package)."
    ),
    course: FOLDER_THERE = option(
        None, "Also release into this nbgrader course; also read from $AUTOGRADE_COURSE.", envvar="AUTOGRADE_COURSE"
    ),
    assignment: str | None = option(None, "Name the assignment in the course (default: the name of the notebook)."),
    colab: str = option("", "Add a Colab badge that opens the notebooks at this address."),
    package: str = option("", "Install the student wheel from this address where it is missing."),
    wheel: FOLDER = option(None, "Also build the package for students into this folder."),
    executed: FOLDER = option(None, "Also run the solutions; write notebooks and pages with outputs to this folder."),
    self_study: bool = option(
        False, "Write notebooks with each answer folded below its check, for those who learn alone; nothing else."
    ),
    own_exercises: FOLDER_THERE = EXERCISES,
    check: bool = option(False, "Write nothing; exit with code 1 if a student edition is not up to date."),
):
    """Build the student edition of NOTEBOOKS (default: all) from their solutions.

    \b
    Example:
      autograde release
      autograde release 03_attention --course course2026 --assignment ps3
      autograde release --wheel dist --executed build/solutions
      autograde release --exercises my_folder --course course2026
      autograde release --self-study --to course_with_answers

    The same sources give the same bytes. Only inputs of `check` whose exercise, notebook or library changed are made
    again; if you interrupt the command, the next one resumes. With NOTEBOOKS, only theirs are made; --wheel
    and --fingerprints make all, which takes minutes. A notebook that contains a line of an answer is not written.
    """
    if assignment and re.search(r"[/\\+]|^\.", assignment):
        raise click.UsageError(f"--assignment {assignment}: expected a name without /, + and a dot at its start")
    if self_study and folder == Path(DEFAULT):
        raise click.UsageError(
            f"--self-study: choose another folder with --to; {DEFAULT} is for notebooks without answers"
        )
    if self_study and course:
        raise click.UsageError("--self-study: these notebooks have answers; leave out --course and $AUTOGRADE_COURSE")
    if course:
        use_exercises_of(course)
    from autograde.exercises import catalogue
    from autograde.grader.book.variants import check_values
    from autograde.release import assignment as assignments
    from autograde.release import editions as making
    from bertlab.common.backend import load_backend
    from bertlab.common.progress import track

    names = list(notebooks) or making.notebooks()
    made = [making.make(name, colab, package=package) for name in names]
    if check:
        _check(made, folder)
        return
    if self_study:
        for path in assignments.write_self_study(made, folder):
            click.echo(path)
        return
    quiet_tensorflow()
    for editions in made:
        path = assignments.write_student_edition(editions, catalogue.of_notebook(editions.name), folder)
        click.echo(path)
    varied = {name: making.make_variants(name, colab, package) for name in names}
    for name, several in varied.items():
        for values, editions in zip(catalogue.variants_of(name) if several else (), several):
            assignments.refuse_leaks(editions, catalogue.of_notebook(name, values))
    released = [(assignment, made)] if assignment else [(editions.name, [editions]) for editions in made]
    for name, group in released if course else ():
        for editions in group:  # before any file is made of other values than students have
            check_values(course, name, editions.name, [one.student for one in varied[editions.name]])
    for path in assignments.write_pages(folder):
        click.echo(path)
    made_now = []

    def progress(exercises):
        made_now.extend(exercises)
        return track(exercises, "Fingerprints", lines=True)

    # A wheel and a folder of one's own are for students, who need every exercise; here `check` can plan the others.
    chosen = set(names) if notebooks and not (wheel or fingerprints) else None
    destination = assignments.write_fingerprints(fingerprints, progress, load_backend, chosen)
    plans = [one for one in assignments.every_plan().values() if chosen is None or one.notebook in chosen]
    click.echo(f"{destination}: {len(plans)} exercises, {len(plans) - len(made_now)} of them unchanged")
    if wheel:
        from autograde.release import student_wheel

        click.echo(student_wheel.build(wheel, destination))
    if executed:
        _execute(made, executed, track)
    if course and own_exercises:
        set_exercises(course, own_exercises)
    for name, group in released if course else ():
        _write_assignment(course, name, group, varied)


def _execute(made, folder: Path, track) -> None:
    """Runs the notebooks in order in one course, so that each uses the answers saved by the earlier ones."""
    from autograde.release.pages import write_executed

    with TemporaryDirectory() as course:
        for editions in track(made, "Running the solutions", lines=True):
            click.echo(write_executed(editions, folder, Path(course))[1])


def _write_assignment(course: Path, name: str, group, varied) -> None:
    """Writes notebooks, and the variants of their questions, into the course; tells where and how many."""
    from autograde.grader.book.variants import write_editions
    from autograde.release.assignment import write_assignment

    for path in write_assignment(course, name, group):
        click.echo(path)
    for editions in group:
        paths = write_editions(course, name, editions.name, [one.student for one in varied[editions.name]])
        if paths:
            click.echo(f"{paths[0].parents[1]}: {len(paths)} variants of {editions.name}")


def _check(made, folder: Path) -> None:
    from autograde.release.assignment import DOCS, PAGES

    wanted = {folder / editions.name / f"{editions.name}.ipynb": editions.student for editions in made}
    wanted |= {folder / page: (DOCS / page).read_text(encoding="utf-8") for page in PAGES}
    stale = [str(path) for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]
    if stale:
        raise CourseError(f"not up to date: {', '.join(stale)}; run `autograde release`")
    click.echo(f"{len(made)} student edition{'s' if len(made) != 1 else ''} up to date")
