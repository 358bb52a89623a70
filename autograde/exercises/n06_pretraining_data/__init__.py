"""Notebook 06: pre-training data."""

KEPT_IN = "data"  # the module of the student's own package for passed answers
