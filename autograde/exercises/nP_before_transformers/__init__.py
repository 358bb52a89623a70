"""Notebook P: before transformers."""

KEPT_IN = ""  # no later notebook builds on these answers
