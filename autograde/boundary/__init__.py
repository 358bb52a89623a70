"""The values that pass between a student's process and the trusted side, and the calls of the student's code."""
