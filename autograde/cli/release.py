"""`autograde release`: solutions → student editions, fingerprints, and an assignment of a course."""

from pathlib import Path

import click

from autograde.cli.options import CourseError


@click.command()
@click.argument("notebooks", nargs=-1)
@click.option("--to", "folder", default="course", show_default=True, type=click.Path(file_okay=False, path_type=Path),
              help="Where the student editions go: FOLDER/NN_topic/NN_topic.ipynb.")  # fmt: skip
@click.option("--fingerprints", type=click.Path(file_okay=False, path_type=Path),
              help="Where the inputs of `check` go; beside the student package if not given.")  # fmt: skip
@click.option("--course", type=click.Path(exists=True, file_okay=False, path_type=Path), envvar="AUTOGRADE_COURSE",
              help="Also release into this nbgrader course; also from $AUTOGRADE_COURSE.")  # fmt: skip
@click.option("--assignment", help="Name of the assignment in the course; the notebook's own name if not given.")
@click.option("--colab", default="", help="Address under which Colab finds FOLDER; puts a badge on top.")
@click.option("--package", default="", help="Address of the student wheel, for notebooks on machines without it.")
@click.option("--wheel", type=click.Path(file_okay=False, path_type=Path),
              help="Also build the package that students install into this folder.")  # fmt: skip
@click.option("--executed", type=click.Path(file_okay=False, path_type=Path),
              help="Also run the solutions; their notebooks and pages, with outputs, go here.")  # fmt: skip
@click.option("--check", is_flag=True, help="Write nothing; exit code 1 if a student edition is not up to date.")
def release(notebooks, folder, fingerprints, course, assignment, colab, package, wheel, executed, check):
    """Builds the student edition of NOTEBOOKS (all, if none is named) from their solutions.

    \b
    Example:
      autograde release
      autograde release 03_attention --course course2026 --assignment ps3
      autograde release --wheel dist --executed build/solutions

    The same sources give the same bytes. Nothing is written in which a line of an answer was found.
    """
    from autograde.cli.grading import quiet_tensorflow
    from autograde.exercises import catalogue
    from autograde.release import assignment as assignments
    from autograde.release import editions as making
    from bertlab.backend import load_backend
    from bertlab.progress import track

    quiet_tensorflow()
    load_backend()
    names = list(notebooks) or making.notebooks()
    made = [making.make(name, colab, package=package) for name in names]
    if check:
        _check(made, folder)
        return
    for editions in made:
        path = assignments.write_student_edition(editions, catalogue.of_notebook(editions.name), folder)
        click.echo(path)
    place = assignments.write_fingerprints(fingerprints, lambda found: track(found, "Fingerprints"))
    click.echo(f"{place}: {len(catalogue.EXERCISES)} exercises")
    if wheel:
        from autograde.release import student_wheel

        click.echo(student_wheel.build(wheel, place))
    if executed:
        _execute(made, executed, track)
    for name, group in _assignments(made, assignment) if course else ():
        for path in assignments.write_assignment(course, name, group):
            click.echo(path)


def _execute(made, folder: Path, track) -> None:
    """The notebooks in their order in one course, so that each builds on what the ones before it kept."""
    from tempfile import TemporaryDirectory

    from autograde.release.executed import write_executed

    with TemporaryDirectory() as course:
        for editions in track(made, "Running the solutions"):
            click.echo(write_executed(editions, folder, Path(course))[1])


def _assignments(made, assignment):
    """(name, notebooks) of each assignment: one of all, or one for each."""
    return [(assignment, made)] if assignment else [(editions.name, [editions]) for editions in made]


def _check(made, folder: Path) -> None:
    stale = []
    for editions in made:
        path = folder / editions.name / f"{editions.name}.ipynb"
        if not path.exists() or path.read_text(encoding="utf-8") != editions.student:
            stale.append(str(path))
    if stale:
        raise CourseError(f"not up to date: {', '.join(stale)}; `autograde release` writes them anew")
    click.echo(f"{len(made)} student edition{'s' if len(made) != 1 else ''} up to date")
