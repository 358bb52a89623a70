"""Puts a notebook into an nbgrader course: `source/`, `release/` and the cells' points in gradebook.db."""

import contextlib
import logging
from pathlib import Path

from autograde import planning
from autograde.exercises import catalogue
from autograde.exercises.spec import Exercise
from autograde.release.editions import Editions, ReleaseError
from autograde.release.leaks import leaks
from autograde.student.plans import BESIDE
from bertlab.files import write_text


def write_student_edition(editions: Editions, exercises: tuple[Exercise, ...], folder: Path) -> Path:
    """Writes `folder/NN_topic/NN_topic.ipynb`; returns its path. Raises ReleaseError where an answer would show."""
    refuse_leaks(editions, exercises)
    path = folder / editions.name / f"{editions.name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, editions.student)
    return path


def refuse_leaks(editions: Editions, exercises: tuple[Exercise, ...]) -> None:
    """Raises ReleaseError if a line of a solution or of a known mistake stands in the student edition."""
    found = leaks(editions.student, exercises)
    if found:
        raise ReleaseError(f"{editions.name}: the student edition would show answers: {'; '.join(found[:5])}")


def write_fingerprints(folder: Path | None, progress=iter) -> Path:
    """Writes the visible plan of every exercise of the catalogue; returns the folder.

    folder: the one beside the student package if None. progress: wraps the exercises, to show how far it is.
    """
    folder = folder or BESIDE
    planning.write_fingerprints(catalogue.EXERCISES, folder, progress)
    return folder


def write_assignment(course: Path, assignment: str, notebooks: list[Editions]) -> list[Path]:
    """Writes the sources and lets nbgrader generate the assignment from them; returns the released notebooks.

    Raises ReleaseError with nbgrader's own words where it refuses.
    """
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    from autograde.grader.gradebook import Course

    source = course / "source" / assignment
    source.mkdir(parents=True, exist_ok=True)
    for editions in notebooks:
        write_text(source / f"{editions.name}.ipynb", editions.source)
    with Course(course):  # makes gradebook.db, also where `alembic` is not on the PATH
        pass
    with _quiet():
        api = NbGraderAPI(CourseDirectory(root=str(course.absolute())))
        made = api.generate_assignment(assignment)
    if not made["success"]:
        raise ReleaseError(f"{source}: nbgrader refused: {made.get('error') or made.get('log')}")
    return [course / "release" / assignment / f"{editions.name}.ipynb" for editions in notebooks]


@contextlib.contextmanager
def _quiet():
    """nbgrader's own log on the terminal; its errors come back in the result."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
