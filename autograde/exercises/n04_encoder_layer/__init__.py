"""Notebook 04: the encoder layer."""

KEPT_IN = "encoder"  # the module of the student's own package for passed answers
