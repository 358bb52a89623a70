"""Compares what models learn from the same data or the same computation."""
