"""Finds the exercises for `check`: the fingerprints that a release has put beside this file.

An instructor's checkout has none before `make release`, or those of one notebook only. There
`autograde.exercises.planning`, which the student package does not contain, makes the other plans.
"""

import importlib
import importlib.util
import os
from pathlib import Path

from autograde.boundary import fingerprints
from autograde.common.caches import cached

BESIDE = Path(__file__).parent / "fingerprints"


def folder() -> Path | None:
    """The folder of fingerprints: $AUTOGRADE_FINGERPRINTS, else the one beside this file, else None."""
    chosen = Path(os.environ.get("AUTOGRADE_FINGERPRINTS") or BESIDE)
    return chosen if (chosen / fingerprints.INDEX).exists() else None


@cached
def index() -> list[dict]:
    """Every exercise of the course: id, notebook, number, title, points, names … Raises FingerprintError."""
    location = folder()
    if location is not None:
        return fingerprints.load_index(location)
    return _planning().index()


def runs() -> list[dict]:
    """The training runs of the course: id, notebook, number, title, points. Raises FingerprintError."""
    location = folder()
    if location is not None:
        return fingerprints.load_index(location, fingerprints.RUNS)
    planning = _planning()
    return planning.runs_of(planning.catalogue.EXERCISES)


@cached
def plan(exercise: str, variant: int = 0) -> dict:
    """The plan of one exercise, by id, for a variant of its question. Raises FingerprintError."""
    location = folder()
    path = location and location / f"{fingerprints.name_of(exercise, variant)}.npz"
    if path and (path.exists() or not (location == BESIDE and _has_planning())):
        return fingerprints.load(path)
    return _planning().plan_of(exercise, variant)


def variant_in(facts: dict, space: dict) -> int | None:
    """The number of the variant in a notebook; 0 if it has no variants, None if VARIANT is not a variant's number."""
    number, largest = space.get("VARIANT", 0), facts.get("variants", 0)
    if not largest:
        return 0
    return number if type(number) is int and 0 <= number <= largest else None


def _has_planning() -> bool:
    return importlib.util.find_spec("autograde.exercises.planning.planner") is not None


def _planning():
    """The instructor's side, where it is installed. Raises FingerprintError."""
    if not _has_planning():
        raise fingerprints.FingerprintError(f"{BESIDE}: there are no exercises here; install the course package again")
    return importlib.import_module("autograde.exercises.planning.planner")


def find(name: str) -> dict | None:
    """The index entry of the exercise in which a student defines this name (or whose id it is)."""
    return next((facts for facts in index() if name == facts["id"] or name in facts["names"]), None)
