"""What a notebook imports: `check`, `progress`, the drawings, and what keeps a student's work. All of it works offline.

from autograde.student import check, heat_maps, lines, load_backend, progress
"""

import os

from autograde.student import home, own, store
from autograde.student.checking import check
from autograde.student.drawings_bert import bars, blocks, shares
from autograde.student.drawings_embeddings import sum_of_rows, tables
from autograde.student.drawings_wordpiece import colour_pieces, input_table
from autograde.student.overview import progress
from autograde.student.pictures import heat_maps, lines
from autograde.student.saving import keep_in_drive, load_state, save_state
from bertlab.cli.backend import load_backend

# TensorFlow repeats every error of a student's on the terminal in words of its own; `check` says it better.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

store.mend(home.find())
own.install(home.find)

__all__ = [
    "bars",
    "blocks",
    "check",
    "colour_pieces",
    "heat_maps",
    "input_table",
    "keep_in_drive",
    "lines",
    "load_backend",
    "load_state",
    "progress",
    "save_state",
    "shares",
    "sum_of_rows",
    "tables",
]
