"""Shared by several commands: the course, the assignment, and the released notebooks."""

from pathlib import Path

import click

from autograde.common.errors import AutogradeError


class CourseError(AutogradeError, ValueError):
    """A folder that is not a course, or an assignment that is not in it."""


_SIGNS = ("nbgrader_config.py", "gradebook.db", "source", "release", "submitted", "results")


def _is_course(context, parameter, course: Path) -> Path:
    if not any((course / sign).exists() for sign in _SIGNS):
        raise CourseError(f"{course}: expected a course folder; name one with --course, or run `autograde init`")
    from autograde.grader.book.course import use_exercises_of

    use_exercises_of(course)
    return course


def _use_exercises(context, parameter, folder: Path | None) -> Path | None:
    if folder:
        from autograde.exercises import folders

        folders.use(folder)
    return folder


def _exercises_option(exists: bool):
    return click.option(
        "--exercises",
        "own_exercises",
        is_eager=True,  # before the course, which may have noted another folder
        callback=_use_exercises,
        type=click.Path(exists=exists, file_okay=False, path_type=Path),
        help="Use your own exercises and notebooks in this folder too; also read from $AUTOGRADE_EXERCISES.",
    )


exercises_option = _exercises_option(exists=True)
new_exercises_option = _exercises_option(exists=False)  # the command makes the folder, or notes it for later
course_option = click.option(
    "--course",
    default=".",
    show_default=True,
    callback=_is_course,
    envvar="AUTOGRADE_COURSE",
    type=click.Path(file_okay=False, path_type=Path),
    help="Use this nbgrader course folder; also read from $AUTOGRADE_COURSE.",
)


def gradebook_of(course: Path):
    """Opens the gradebook of a course: `with gradebook_of(course) as book: …`.

    Raises CourseError if the folder has no gradebook.db.
    """
    from autograde.grader.book.gradebook import Gradebook

    if not (course / "gradebook.db").is_file():
        raise CourseError(f"{course}: expected a course folder with a gradebook.db; name it with --course")
    return Gradebook(course)


def released_notebooks(course: Path, assignment: str) -> list[Path]:
    """The notebooks of an assignment as students got them, by name. Raises CourseError."""
    for folder in (course / "release" / assignment, course / "source" / assignment):
        notebooks = sorted(folder.glob("*.ipynb"))
        if notebooks:
            return notebooks
    known = sorted({path.parent.name for path in course.glob("release/*/*.ipynb")})
    hint = f"; released: {', '.join(known)}" if known else "; release one with `autograde release --course`"
    raise CourseError(f"{course}: expected a notebook in release/{assignment} or source/{assignment}{hint}")


def templates_of(course: Path, assignment: str) -> dict:
    """The `Template` of each notebook of an assignment, by the notebook's name."""
    from autograde.grader.book.variants import released

    return {path.stem: released(course, assignment, path) for path in released_notebooks(course, assignment)}


def results_of(course: Path, assignment: str, students: tuple[str, ...] = ()) -> list:
    """Records of an assignment, of these students if any are named. Raises CourseError if no record exists."""
    from autograde.grader.grading.results import FOLDER, load_results

    results = [result for result in load_results(course, assignment) if not students or result.student in students]
    if not results:
        whom = f" for {', '.join(students)}" if students else ""
        raise CourseError(
            f"{course / FOLDER / assignment}: no results{whom} yet; run `autograde grade {assignment}` first"
        )
    return results


def zone_of_course(context, parameter, name: str | None):
    """The time zone with this name, by default the course's. Raises BadParameter."""
    from autograde.grader.book.course import CourseFolderError, zone_of

    try:
        return zone_of(context.params.get("course") or Path("."), name)
    except CourseFolderError as reason:
        raise click.BadParameter(str(reason)) from None
