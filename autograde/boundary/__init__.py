"""What crosses between a student's process and the trusted side, and what calls the student's code."""
