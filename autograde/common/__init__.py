"""Modules that several packages use: errors, caches, texts, parsing Python, tables."""
