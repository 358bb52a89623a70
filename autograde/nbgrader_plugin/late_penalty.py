"""Deducts points for every day that a submission is late: a plugin for nbgrader's AssignLatePenalties.

In a course's nbgrader_config.py:

    c.AssignLatePenalties.plugin_class = "autograde.nbgrader_plugin.late_penalty.PerDay"
    c.PerDay.percent = 10

It needs a due date. Extensions are taken off before.
"""

import math

from nbgrader.plugins import BasePlugin
from traitlets import Float

_DAY = 86_400.0  # seconds


class PerDay(BasePlugin):
    """Deducts a percentage of the score for each day begun."""

    percent = Float(10.0, min=0.0, max=100.0, help="Deduct this percentage of the score per day begun.").tag(
        config=True
    )
    grace_minutes = Float(0.0, min=0.0, help="Ignore delays up to this many minutes.").tag(config=True)
    most = Float(100.0, min=0.0, max=100.0, help="Deduct at most this percentage in total.").tag(config=True)

    def late_submission_penalty(self, student_id: str, score: float, total_seconds_late: float) -> float | None:
        """Points to deduct from a notebook's score, or None."""
        if total_seconds_late <= 60 * self.grace_minutes:
            return None
        days = math.ceil(total_seconds_late / _DAY)
        return round(score * min(self.percent * days, self.most) / 100, 2)
