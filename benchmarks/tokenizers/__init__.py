"""Measures how fast the tokenizers are, and how good a learnt vocabulary is."""
