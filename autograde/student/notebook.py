"""The start of a notebook's first cell: loads the backend and lets `import mybert` find the student's package."""

import os

from autograde.boundary import mybert_importer
from autograde.student import home, store
from autograde.student.unsolved import explain_unsolved
from bertlab.common import backend


def load_backend() -> None:
    """Imports Keras and its backend without their start-up notes; lets `import mybert` find the student's package; lets
    a cell that uses an unsolved exercise say so in one line."""
    # TensorFlow repeats each error in the student's code on the terminal, in its own words; `check` explains it better.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    backend.load_backend()
    activate_mybert()
    explain_unsolved()


def activate_mybert() -> None:
    """Lets `import mybert` find the student's package, as the first cell of a notebook does by `load_backend()`."""
    mybert_importer.activate(home.find, prepare=store.repair)
