"""Measures how fast training, writing and importing are, compared with other libraries."""
