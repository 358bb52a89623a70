"""Sorts downloads: files, the platforms that they come from, and whose they are."""
