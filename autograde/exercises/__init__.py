"""The exercises, one module per notebook, and everything that must not leave the instructor's side.

Modules of an instructor's own exercises are found in the folder `exercises` of $AUTOGRADE_EXERCISES (see folders.py).
"""

import os

VARIABLE = "AUTOGRADE_EXERCISES"
if os.environ.get(VARIABLE):
    __path__.insert(0, os.path.join(os.environ[VARIABLE], "exercises"))
