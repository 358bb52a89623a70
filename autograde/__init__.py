"""The autograder: exercises, checks with feedback, and grading of untrusted code.

A student's code runs in an untrusted process, and only *arrays* and other plain values come out of it (`values`). All
modules that know a right answer run in another process (`exercises`, `planning`, `judge`).
"""
