"""What a notebook imports: `check`, `progress`, the drawings, and what keeps a student's work. All of it works offline.

from autograde.student import check, heat_maps, lines, load_backend, progress
"""

import os

from autograde.student import home, own, store
from autograde.student.checking import check
from autograde.student.drawings_bert import blocks, guess_bars, shares
from autograde.student.drawings_data import bars, token_boxes
from autograde.student.drawings_embeddings import sum_of_rows, tables
from autograde.student.drawings_encoder import curves, histograms, stacked_boxes
from autograde.student.drawings_finetuning import read_offs, span_bars
from autograde.student.drawings_welcome import course_map
from autograde.student.drawings_wordpiece import colour_pieces, input_table
from autograde.student.overview import progress
from autograde.student.pictures import heat_maps, lines
from autograde.student.saving import keep_in_drive, load_state, save_state
from bertlab.backend import load_backend

# TensorFlow repeats every error of a student's on the terminal in words of its own; `check` says it better.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

own.install(home.find, prepare=store.mend)

__all__ = [
    "bars",
    "blocks",
    "check",
    "colour_pieces",
    "course_map",
    "curves",
    "guess_bars",
    "heat_maps",
    "histograms",
    "input_table",
    "keep_in_drive",
    "lines",
    "load_backend",
    "load_state",
    "progress",
    "read_offs",
    "save_state",
    "shares",
    "span_bars",
    "stacked_boxes",
    "sum_of_rows",
    "tables",
    "token_boxes",
]
