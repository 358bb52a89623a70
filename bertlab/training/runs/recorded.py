"""Results of runs that take too long for a notebook: tables in the package, to draw beside one's own results.

Each is made by `python -m benchmarks.training.NAME`:

before_transformers     readers from before attention on the questions of notebook P
inside_bert             what the heads and layers of bertlab-mini know, beside controls
mirror_language         translators into the small world's mirror language, with all vectors of the source or their mean
objectives              what each objective teaches for the same operations
small_world             a BERT of 2 × 64 beside the small world's floor
small_world_objectives  each objective beside its floor there, and one task for all
task_types              four small tasks, with and without pre-training
"""

import csv
from contextlib import suppress
from pathlib import Path

from bertlab.common.errors import DataError

RECORDED = Path(__file__).parents[1] / "recorded_runs"


def recorded_names() -> tuple[str, ...]:
    """The names of the tables.

    Example:
        >>> "objectives" in recorded_names()
        True
    """
    return tuple(sorted(path.stem for path in RECORDED.glob("*.csv")))


def recorded_runs(name: str) -> list[dict]:
    """A table's rows, a dict for each run; a cell with a number is a number, an empty cell is left out.

    Raises DataError for an unknown name.

    Example:
        >>> rows = recorded_runs("objectives")
        >>> sorted({row["family"] for row in rows})
        ['albert', 'bert', 'electra', 'xlnet']
    """
    if name not in recorded_names():
        raise DataError(f"expected the name of recorded runs, {', '.join(recorded_names())}; got {name!r}")
    with (RECORDED / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return [{key: _value(cell) for key, cell in row.items() if cell} for row in csv.DictReader(file)]


def _value(cell: str) -> str | int | float:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(cell)
    return cell
