"""Shared by several commands: the course, the assignment, and the released notebooks."""

import os
from pathlib import Path

import click

from autograde.grader.book.course import CourseError, use_exercises_of, zone_of
from bertlab.cli.from_signature import option
from bertlab.common.files import write_text

_SIGNS = ("nbgrader_config.py", "gradebook.db", "source", "release", "submitted", "results")


def _course(context, parameter, course: Path) -> Path:
    if not any((course / sign).exists() for sign in _SIGNS):
        raise CourseError(f"{course}: expected a course folder; name one with --course, or run `autograde init`")
    use_exercises_of(course)
    return course


def _use_exercises(context, parameter, folder: Path | None) -> Path | None:
    if folder:
        from autograde.exercises import folders

        folders.use(folder)
    return folder


FOLDER_THERE = click.Path(exists=True, file_okay=False, path_type=Path)
FILE_THERE = click.Path(exists=True, dir_okay=False, path_type=Path)

COURSE = option(
    Path("."), "Use this nbgrader course folder; also read from $AUTOGRADE_COURSE.", callback=_course,
    envvar="AUTOGRADE_COURSE",
)  # fmt: skip
EXERCISES = option(
    None, "Use your own exercises and notebooks in this folder too; also read from $AUTOGRADE_EXERCISES.",
    "--exercises", eager=True, callback=_use_exercises,  # before the course, which may have noted another folder
)  # fmt: skip


def quiet_tensorflow() -> None:
    """Keeps TensorFlow's own log off the terminal. Call it before TensorFlow is imported."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")  # known mistakes run here, on a few small inputs


def gradebook_of(course: Path):
    """Opens the gradebook of a course: `with gradebook_of(course) as book: …`.

    Raises CourseError if the folder has no gradebook.db.
    """
    from autograde.grader.book.gradebook import Gradebook

    if not (course / "gradebook.db").is_file():
        raise CourseError(f"{course}: expected a course folder with a gradebook.db; name it with --course")
    return Gradebook(course)


def assignment_of(book, course: Path, name: str):
    """An assignment as nbgrader keeps it. Raises CourseError for a name of no assignment in the gradebook."""
    known = {one.name: one for one in book.book.assignments}
    if name not in known:
        raise CourseError(
            f"{course}: no assignment {name!r} in the gradebook; assignments: {', '.join(known) or 'none'}"
        )
    return known[name]


def read_table(path: Path) -> str:
    """The text of a CSV file. Raises CourseError if it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as reason:
        raise CourseError(f"{path}: expected a CSV file in UTF-8 ({reason}); save it as UTF-8") from None


def write_file(path: Path, text: str) -> Path:
    """Writes a file, whole or not at all, and makes its folder where it is missing; returns the path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)
    return path


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
    try:
        return zone_of(context.params.get("course") or Path("."), name)
    except CourseError as reason:
        raise click.BadParameter(str(reason)) from None
