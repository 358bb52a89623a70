"""What a notebook imports: `check`, `progress` and the drawings. All of it works offline.

from autograde.student import check, heat_maps, lines, load_backend, progress
"""

import os
from pathlib import Path

from autograde.student import own
from autograde.student.checking import check
from autograde.student.drawings_bert import bars, blocks, shares
from autograde.student.drawings_embeddings import sum_of_rows, tables
from autograde.student.drawings_finetuning import read_offs, span_bars
from autograde.student.drawings_wordpiece import colour_pieces, input_table
from autograde.student.overview import progress
from autograde.student.pictures import heat_maps, lines
from bertlab.cli.backend import load_backend

# TensorFlow repeats every error of a student's on the terminal in words of its own; `check` says it better.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

own.install(Path.cwd().parent)

__all__ = [
    "bars",
    "blocks",
    "check",
    "colour_pieces",
    "heat_maps",
    "input_table",
    "lines",
    "load_backend",
    "progress",
    "read_offs",
    "shares",
    "span_bars",
    "sum_of_rows",
    "tables",
]
