"""Notebook 11: objectives and relatives."""

KEPT_IN = ""  # the module of the student's own package for passed answers
