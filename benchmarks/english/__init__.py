"""Measures how much English a small model knows."""
