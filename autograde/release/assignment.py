"""Puts a notebook into an nbgrader course: `source/`, `release/` and the cells' points in gradebook.db."""

import contextlib
import hashlib
import logging
from pathlib import Path

from autograde import planning
from autograde.exercises import catalogue
from autograde.exercises.spec import Exercise
from autograde.release.editions import Editions, ReleaseError
from autograde.release.leaks import leaks
from autograde.student.plans import BESIDE
from bertlab.files import write_text

MADE_FROM = ".made-from"  # beside the fingerprints: the hash of their sources
ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs" / "glossary.md"


def write_student_edition(editions: Editions, exercises: tuple[Exercise, ...], folder: Path) -> Path:
    """Writes `folder/NN_topic/NN_topic.ipynb`; returns its path. Raises ReleaseError if it would contain an answer."""
    refuse_leaks(editions, exercises)
    path = folder / editions.name / f"{editions.name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, editions.student)
    return path


def write_glossary(folder: Path) -> Path:
    """Copies docs/glossary.md, to which the notebooks link, beside the student editions; returns its path."""
    path = folder / GLOSSARY.name
    write_text(path, GLOSSARY.read_text(encoding="utf-8"))
    return path


def refuse_leaks(editions: Editions, exercises: tuple[Exercise, ...]) -> None:
    """Raises ReleaseError if the student edition contains a line of a solution or of a known mistake."""
    found = leaks(editions.student, exercises)
    if found:
        raise ReleaseError(f"{editions.name}: the student edition would contain answers: {'; '.join(found[:5])}")


def write_fingerprints(folder: Path | None, progress=iter) -> Path:
    """Writes the visible plan of every exercise of the catalogue; returns the folder.

    Does nothing if the same sources have made them before. folder: None for the one beside the student package.
    progress: wraps the exercises, to show the progress.
    """
    folder = folder or BESIDE
    note, made_from = folder / MADE_FROM, _sources_hash()
    complete = all((folder / f"{exercise.id}.npz").is_file() for exercise in catalogue.EXERCISES)
    if complete and note.is_file() and note.read_text() == made_from:
        return folder
    note.unlink(missing_ok=True)  # until all are written, the folder contains old and new ones
    planning.write_fingerprints(catalogue.EXERCISES, folder, progress)
    write_text(note, made_from)
    return folder


def _sources_hash() -> str:
    """A hash of everything that fingerprints depend on: both packages, the solutions, and the versions of libraries."""
    import keras
    import numpy as np
    import tensorflow as tf

    total = hashlib.sha256(" ".join([np.__version__, tf.__version__, keras.__version__]).encode())
    for path in sorted(path for part in ("autograde", "bertlab", "solutions") for path in (ROOT / part).rglob("*.py")):
        total.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return total.hexdigest()


def write_assignment(course: Path, assignment: str, notebooks: list[Editions]) -> list[Path]:
    """Writes the sources and lets nbgrader generate the assignment from them; returns the released notebooks.

    Raises ReleaseError with nbgrader's own message if it fails.
    """
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    from autograde.grader.gradebook import Course

    source = course / "source" / assignment
    source.mkdir(parents=True, exist_ok=True)
    for editions in notebooks:
        write_text(source / f"{editions.name}.ipynb", editions.source)
    with Course(course):  # creates gradebook.db without starting `alembic`, as nbgrader would
        pass
    with _quiet():
        api = NbGraderAPI(CourseDirectory(root=str(course.absolute())))
        made = api.generate_assignment(assignment)
    if not made["success"]:
        raise ReleaseError(f"{source}: nbgrader failed: {made.get('error') or made.get('log')}")
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
