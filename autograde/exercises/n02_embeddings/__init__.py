"""Notebook 02: embeddings."""

KEPT_IN = "embeddings"  # the module of the student's own package for passed answers
