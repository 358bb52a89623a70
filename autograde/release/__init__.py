"""From one source per notebook to everything that is handed out.

    solutions/NN_topic.py ─▶ course/NN_topic/NN_topic.ipynb   the student edition (editions.py)
                          ─▶ source/ and release/ of an nbgrader course (assignment.py)
                          ─▶ the same with its outputs, as a notebook and as a page (executed.py, pages.py, formulas.py)
    exercises/            ─▶ fingerprints: what `check` needs on a student's machine

The same sources give the same bytes, and nothing is written in which a line of a solution was found (leaks.py).
"""
