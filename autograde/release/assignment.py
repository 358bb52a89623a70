"""Writes what is handed out: student editions without a line of an answer, fingerprints, and an nbgrader assignment."""

import hashlib
import json
import logging
import re
from collections.abc import Callable, Collection
from pathlib import Path

from autograde.boundary import fingerprints
from autograde.exercises import catalogue, cells
from autograde.exercises.planning import planner
from autograde.exercises.spec import Exercise
from autograde.release.editions import Editions, ReleaseError, for_self_study
from autograde.release.sources import hash_of, write_record
from autograde.student.plans import BESIDE
from bertlab.common.files import write_text

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Of DOCS; the notebooks link them.
PAGES = ("glossary.md", "errata.md", "before_bert.md", "small_world.md", "pictures/before_bert.svg")

_FEWEST_WORDS = 4  # names and numbers in a line that could give an answer away: `return x` occurs in many programs
NOTE = ".made-from"  # beside the fingerprints: what each was made from, so that an interrupted release resumes
_VERSION = 2  # of the note; 1 was one hash of all sources


def write_student_edition(editions: Editions, exercises: tuple[Exercise, ...], folder: Path) -> Path:
    """Writes `folder/NN_topic/NN_topic.ipynb`; returns its path. Raises ReleaseError if it would contain an answer."""
    refuse_leaks(editions, exercises)
    return _write_edition(folder, editions.name, editions.student)


def write_self_study(made: list[Editions], folder: Path) -> list[Path]:
    """Writes the editions with folded answers, and the pages that they link; returns the paths."""
    paths = [_write_edition(folder, editions.name, for_self_study(editions)) for editions in made]
    return [*paths, *write_pages(folder)]


def _write_edition(folder: Path, name: str, text: str) -> Path:
    path = folder / name / f"{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, text)
    return path


def write_pages(folder: Path) -> list[Path]:
    """Copies the pages that the notebooks link, with their picture, beside the student editions; returns the paths."""
    paths = [folder / page for page in PAGES]
    for page, path in zip(PAGES, paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, (DOCS / page).read_text(encoding="utf-8"))
    return paths


def refuse_leaks(editions: Editions, exercises: tuple[Exercise, ...]) -> None:
    """Raises ReleaseError if the student edition contains a line of a solution or of a known mistake."""
    found = leaks(editions.student, exercises)
    if found:
        raise ReleaseError(f"{editions.name}: the student edition would contain answers: {'; '.join(found[:5])}")


def leaks(student_edition: str, exercises: tuple[Exercise, ...]) -> list[str]:
    """Sentences about each secret line of a student edition (its JSON text), in code and texts; empty is good."""
    secrets = secret_lines(exercises)
    return [
        f"cell {number}: {line!r} is in {secrets[line]}"
        for number, cell in enumerate(json.loads(student_edition)["cells"], start=1)
        for line in _lines(cell["source"])
        if line in secrets
    ]


def secret_lines(exercises: tuple[Exercise, ...]) -> dict[str, str]:
    """Every long enough line of an answer or a misconception that is not in the stub → its origin."""
    secrets: dict[str, str] = {}
    for exercise in exercises:
        answer = cells.answer_cell(exercise)
        given = set(_lines(cells.stub_cell(answer)))
        sources = [("solution", answer)]
        sources += [(known.id, cells.patched_cell(exercise, known)) for known in exercise.misconceptions]
        for origin, source in sources:
            for line in _lines(source):
                if line not in given and "### " not in line and len(re.findall(r"\w+", line)) >= _FEWEST_WORDS:
                    secrets.setdefault(line, f"{exercise.id}/{origin}")
    return secrets


def _lines(source: str) -> list[str]:
    return [line.strip() for line in source.splitlines() if line.strip()]


# --- fingerprints ---


def every_plan() -> dict[str, Exercise]:
    """The name of each fingerprint → its exercise, those of the variants of a question after the exercise's own."""
    found = {exercise.id: exercise for exercise in catalogue.EXERCISES}
    for notebook in dict.fromkeys(exercise.notebook for exercise in catalogue.EXERCISES):
        for number, values in enumerate(catalogue.variants_of(notebook), start=1):
            found |= {fingerprints.name_of(one.id, number): one for one in catalogue.of_notebook(notebook, values)}
    return found


def write_fingerprints(
    folder: Path | None,
    progress=iter,
    prepare: Callable[[], None] = lambda: None,
    notebooks: Collection[str] | None = None,
) -> Path:
    """Writes the visible plan of every exercise and variant whose sources have changed; returns the folder.

    folder: None for the one beside the student package. progress: wraps the names of those to be made; prepare: called
    first if there are any. notebooks: make only the exercises of these; outdated files of others are deleted, and
    beside the package `check` then makes such a plan when it needs it.
    """
    folder = folder or BESIDE
    folder.mkdir(parents=True, exist_ok=True)
    made, every = read_note(folder), every_plan()
    sources = {name: hash_of(exercise) for name, exercise in every.items()}
    changed = [name for name in every if made.get(name) != (sources[name], _hash_of(folder / f"{name}.npz"))]
    wanted = [name for name in changed if notebooks is None or every[name].notebook in notebooks]
    for name in set(changed) - set(wanted):
        (folder / f"{name}.npz").unlink(missing_ok=True)
    if wanted:
        prepare()
        for name in progress(wanted):
            made[name] = sources[name], _hash_of(planner.write_fingerprint(every[name], folder, name))
            write_text(folder / NOTE, json.dumps({"version": _VERSION, "made": made}, indent=1) + "\n")
    planner.write_indexes(catalogue.EXERCISES, folder)
    return folder


def read_note(folder: Path) -> dict[str, tuple[str, str]]:
    """The name of each fingerprint that was made → (hash of its sources, hash of its file); {} for an unusable note."""
    try:
        note = json.loads((folder / NOTE).read_text(encoding="utf-8"))
        made = {name: (str(source), str(file)) for name, (source, file) in note["made"].items()}
        return made if note["version"] == _VERSION else {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}  # a note only saves work


def _hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"


# --- nbgrader ---


def write_assignment(course: Path, assignment: str, notebooks: list[Editions]) -> list[Path]:
    """Lets nbgrader generate the assignment from the sources; returns the released notebooks. Raises ReleaseError."""
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    from autograde.grader.book.gradebook import Gradebook

    source = course / "source" / assignment
    source.mkdir(parents=True, exist_ok=True)
    for editions in notebooks:
        write_text(source / f"{editions.name}.ipynb", editions.source)
    with Gradebook(course):  # creates gradebook.db without starting `alembic`, as nbgrader would
        pass
    logged_before = logging.root.manager.disable
    logging.disable(logging.WARNING)  # nbgrader's own log on the terminal; its errors come back in the result
    try:
        made = NbGraderAPI(CourseDirectory(root=str(course.absolute()))).generate_assignment(assignment)
    finally:
        logging.disable(logged_before)
    if not made["success"]:
        raise ReleaseError(f"{source}: nbgrader failed: {made.get('error') or made.get('log')}")
    write_record(course, assignment, [editions.name for editions in notebooks])
    return [course / "release" / assignment / f"{editions.name}.ipynb" for editions in notebooks]
