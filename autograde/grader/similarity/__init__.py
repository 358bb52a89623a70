"""Finds answers that are more alike than a class's answers are by chance.

    comparison = compare(students)
    comparison.listed      # pairs that are too much alike, with the number of innocent pairs to expect among them
    comparison.rings       # three or more students who are connected by such pairs
    comparison.identical   # answers that are the same text, or the same program

1. `programs.py`: an answer becomes nodes of its syntax tree, without comments, formatting, type hints and own names.
2. `hand_ins.py`: an answer is compared with everything that it uses, and without given code.
3. `pairs.py`: in each exercise, a pair is ranked among all pairs of the class; the ranks of all exercises are combined;
   the page shows pairs side by side.

A high rank is only a reason to read two programs side by side.

Why not copydetect (0.5): see docs/similarity.md, which has the results of both on the same class.
"""
