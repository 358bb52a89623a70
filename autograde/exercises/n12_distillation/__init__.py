"""Notebook 12: distillation."""

KEPT_IN = ""  # no later notebook builds on its answers
