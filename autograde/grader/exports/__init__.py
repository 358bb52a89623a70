"""Grades and feedback for other programs: Moodle, Canvas, CSV, JSON, e-mail."""
