"""Checks under nbgrader's Validate (the button in JupyterLab, `nbgrader validate`).

Validate runs a copy of the notebook and takes a graded cell for failed if it raises, or writes to standard error. In
ordinary work a check only shows what it found, so that *Run All* goes on after a wrong one. Validate says in the
environment that it is at work, and there alone a check that does not pass raises: a sentence, no traceback.
"""

import os
import textwrap

from autograde.errors import AutogradeError
from autograde.rendering import WIDTH, points_text
from autograde.verdict import Verdict

_VARIABLE, _VALUE = "NBGRADER_EXECUTION", "validate"  # set by nbgrader's Validator for the kernel it starts


class CheckFailed(AutogradeError, AssertionError):
    """A check that did not pass, where nbgrader asks for an exception."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback, in lines that fit nbgrader's dialog, which breaks none."""
        return textwrap.wrap(str(self), WIDTH, subsequent_indent="  ")


def is_validating() -> bool:
    """Whether nbgrader's Validate runs this notebook."""
    return os.environ.get(_VARIABLE) == _VALUE


def raise_unless_passed(verdict: Verdict | None, instead: str) -> None:
    """Raises CheckFailed with the points and the first thing to do about it; without a verdict, with what was said."""
    if verdict is None:
        raise CheckFailed(instead)
    if verdict.passed:
        return
    points = f"{points_text(verdict.points)} of {points_text(verdict.max_points)} points"
    raise CheckFailed(f"✗ {verdict.label}: {verdict.status}, {points}. {' '.join(_reason(verdict).split())}")


def _reason(verdict: Verdict) -> str:
    """The first thing to do; where there is no advice, the part that is missing or what differs."""
    if verdict.advice:
        return verdict.advice[0]
    lost = [f"{part.name}: {part.message}" for part in verdict.parts if verdict.points and not part.earned]
    seen = [f"{label}: {text}" for label, text in verdict.facts if label != "tried"]
    return next(iter(lost + seen), "Run its cell to see more.")
