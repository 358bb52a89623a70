"""Notebook 07: pre-training."""

KEPT_IN = "pretraining"  # the module of the student's own package for passed answers
