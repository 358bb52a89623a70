"""A run's metrics as files: a CSV file that any program can read, TensorBoard's logs, and a plot.

The package includes reference curves to compare your own loss with: `reference_curves/*.csv`, each the metrics.csv of
a recorded run, with the command that made it in its first line.
"""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from bertlab.common.errors import CheckpointError, DataError
from bertlab.common.files import write_atomically, write_text
from bertlab.plots import pretraining_runs

METRICS, CURVE, LOGS = "metrics.csv", "curve.png", "tensorboard"
REFERENCES = Path(__file__).parents[1] / "reference_curves"


def write_metrics(path: str | Path, rows: Sequence[dict]) -> None:
    """Writes a history as CSV: one line per interval, a field left empty where nothing was measured."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(path, text.getvalue(), CheckpointError)


def read_metrics(path: str | Path) -> list[dict]:
    """The inverse of `write_metrics`; lines that begin with # are skipped. path: a file, or a run's folder.

    Raises DataError, naming file and line.
    """
    path = Path(path)
    path = path / METRICS if path.is_dir() else path
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: cannot be read ({reason}); expected a run's folder or its {METRICS}") from None
    comments = next((i for i, line in enumerate(lines) if not line.startswith("#")), len(lines))
    table = csv.DictReader(lines[comments:])
    if "step" not in (table.fieldnames or ()):
        raise DataError(f"{path} line {comments + 1}: expected a header with a column 'step'")
    return [_numbers(row, f"{path} line {comments + table.line_num}") for row in table]


def _numbers(row: dict, where: str) -> dict:
    try:
        values = {name: float(value) for name, value in row.items() if value not in ("", None)}
        return values | {"step": int(values["step"])}
    except (TypeError, ValueError, KeyError):
        raise DataError(f"{where}: expected a number in every column") from None


def objectives_in(rows: Sequence[dict]) -> list[str]:
    """The names of the objectives whose loss a history has: masked_lm, next_sentence … in the columns' order."""
    columns = dict.fromkeys(name for row in rows for name in row if not name.startswith("val_"))
    return [name.removesuffix("_loss") for name in columns if name.endswith("_loss")]


def reference_curves() -> dict[str, Path]:
    """The reference curves in the package, by name."""
    return {path.stem: path for path in sorted(REFERENCES.glob("*.csv"))}


# --- drawings ---


def draw(
    runs: dict[str, Sequence[dict]], path: str | Path, along: str = "step", references: Sequence[str] = ()
) -> None:
    """Draws loss and accuracy of each run's objectives, side by side. The path ends in .png, .svg or .pdf.

    along: step | tokens | seconds, the horizontal axis. references: names of those runs that are drawn dotted.
    Raises DataError for another ending.
    """
    path = Path(path)
    kind = path.suffix.removeprefix(".").lower()
    if kind not in ("png", "svg", "pdf"):
        raise DataError(f"{path}: cannot be drawn; choose a name that ends with .png, .svg or .pdf")
    objectives = {name: objectives_in(rows) or ["masked_lm"] for name, rows in runs.items()}
    figure = pretraining_runs(runs, objectives, along, references)
    write_atomically(path, lambda partial: figure.savefig(partial, format=kind, dpi=120), CheckpointError)
