"""Notebook 01: WordPiece."""

KEPT_IN = "wordpiece"  # the module of the student's own package for passed answers
