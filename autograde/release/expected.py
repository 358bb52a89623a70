"""The expected picture: below a cell that only draws, what it shows with the course's own answers, small and grey.

`solutions/expected/NOTEBOOK/KEY.png` keeps each picture. The key comes from the cell's code: a changed cell, or
a variant with other values, has none until `python -m scripts.expected_pictures` makes it.
"""

import base64
import hashlib
from pathlib import Path

TAG = "expected"  # of the cell with the picture
ALT = "The picture of this cell with the course's answers, small and grey"


def key_of(source: str) -> str:
    """The name of a cell's picture. source: the cell's code.

    Example:
        >>> key_of("lines(x, curves, alt='A curve')")
        '3cd6f05b355c'
    """
    return hashlib.sha256(source.encode()).hexdigest()[:12]


def folder_of(solution: Path) -> Path:
    """The folder with a notebook's expected pictures. solution: the notebook's text."""
    return solution.parent / "expected" / solution.stem


def text_cell(key: str, source: str, **metadata) -> dict:
    """A text cell that the solution notebook does not have. key: its id is computed from it."""
    identity = hashlib.sha256(key.encode()).hexdigest()[:12]
    return {"cell_type": "markdown", "id": identity, "metadata": metadata, "source": source}


def cell_below(solution: Path, name: str, cell: dict) -> list[dict]:
    """The text cell with the expected picture of a cell that draws; [] for other cells."""
    path = folder_of(solution) / f"{key_of(cell['source'])}.png"
    if cell["cell_type"] != "code" or not path.exists():
        return []
    picture = base64.b64encode(path.read_bytes()).decode("ascii")
    source = f"*Expected:*<br>![{ALT}](data:image/png;base64,{picture})"
    return [text_cell(f"{name} {path.stem} expected", source, tags=[TAG])]
