"""Labelled data for fine-tuning: formats, built-in tasks, features, windows, metrics."""
