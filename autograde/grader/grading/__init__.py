"""Runs a submission in sandboxes and turns its answers into a record of points and reasons."""
