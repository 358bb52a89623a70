"""The autograder: exercises, checks that teach, and grading of code that nobody has read.

Two processes and a channel: what a student wrote runs in an untrusted process and only *arrays* come out of it
(`values`); everything that knows a right answer stays on the other side (`exercises`, `planning`, `judge`).
"""
