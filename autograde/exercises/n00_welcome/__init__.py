"""Notebook 00: welcome."""

KEPT_IN = ""  # the module of the student's own package for passed answers
