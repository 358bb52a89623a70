"""Makes everything that is handed out from one source per notebook.

    solutions/NN_topic.py ─▶ course/NN_topic/NN_topic.ipynb   the student edition (editions.py)
                          ─▶ source/ and release/ of an nbgrader course (assignment.py)
                          ─▶ the same with its outputs, as a notebook and as a page (pages.py)
    exercises/            ─▶ fingerprints: what `check` needs on a student's machine

The same sources give the same bytes. A notebook that contains a line of a solution is not written.
"""
