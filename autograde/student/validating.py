"""Checks under nbgrader's Validate (the button in JupyterLab, `nbgrader validate`).

Validate runs a copy of the notebook; a graded cell fails if it raises or writes to standard error. Normally a check
only shows its result, so that *Run All* continues after a wrong answer. Validate sets an environment variable, and only
then a failed check raises: a sentence, no traceback.
"""

import os
import textwrap

from autograde.common.errors import AutogradeError
from autograde.judging.rendering import WIDTH, points_text
from autograde.judging.verdict import Verdict

_VARIABLE, _VALUE = "NBGRADER_EXECUTION", "validate"  # set by nbgrader's Validator for the kernel it starts


class CheckFailed(AutogradeError, AssertionError):
    """A check that did not pass, where nbgrader asks for an exception."""

    def _render_traceback_(self) -> list[str]:
        """Shown by IPython instead of a traceback, in lines that fit nbgrader's dialog, which does not wrap lines."""
        return textwrap.wrap(str(self), WIDTH, subsequent_indent="  ")


def is_validating() -> bool:
    """Whether nbgrader's Validate runs this notebook."""
    return os.environ.get(_VARIABLE) == _VALUE


def raise_unless_passed(verdict: Verdict | None, instead: str) -> None:
    """Raises CheckFailed with the points and the first advice; without a verdict, with the message `instead`."""
    if verdict is None:
        raise CheckFailed(instead)
    if verdict.passed:
        return
    points = f"{points_text(verdict.points)} of {points_text(verdict.max_points)} points"
    raise CheckFailed(f"✗ {verdict.label}: {verdict.status}, {points}. {' '.join(_reason(verdict).split())}")


def _reason(verdict: Verdict) -> str:
    """The first advice; without advice, the first missing part or difference."""
    if verdict.advice:
        return verdict.advice[0]
    lost = [f"{part.title}: {part.message}" for part in verdict.parts if verdict.points and not part.earned]
    seen = [f"{label}: {text}" for label, text in verdict.facts if label != "tried"]
    return next(iter(lost + seen), "Run its cell to see more.")
