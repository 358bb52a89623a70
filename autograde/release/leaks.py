"""Searches the student edition, its code and its texts, for lines of a solution or of a known mistake.

Only lines with enough words count: `return x` or a single bracket occurs in many programs.
"""

import json
import re

from autograde.exercises import cells
from autograde.exercises.spec import Exercise

_FEWEST_WORDS = 4  # names and numbers in a line that could give an answer away


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


def leaks(student_edition: str, exercises: tuple[Exercise, ...]) -> list[str]:
    """Sentences about each secret line of a student edition (its JSON text); empty is good."""
    secrets = secret_lines(exercises)
    found = []
    for number, cell in enumerate(json.loads(student_edition)["cells"], start=1):
        found += [
            f"cell {number}: {line!r} is in {secrets[line]}" for line in _lines(cell["source"]) if line in secrets
        ]
    return found


def _lines(source: str) -> list[str]:
    return [line.strip() for line in source.splitlines() if line.strip()]
