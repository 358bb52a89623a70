"""The plugins that a course's nbgrader_config.py names. nbgrader imports them by the names in this module."""

from autograde.nbgrader_plugin.converters import FeedbackExporter, GradeInSandbox, SubmissionExporter

__all__ = ["FeedbackExporter", "GradeInSandbox", "SubmissionExporter"]
