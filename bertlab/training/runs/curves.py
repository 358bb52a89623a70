"""A run's metrics as files: a CSV file that any program can read, TensorBoard's logs, and a plot.

The package includes reference curves to compare your own loss with: `reference_curves/*.csv`, each the metrics.csv of
a recorded run, with the command that made it in its first line.
"""

import csv
import io
import time
from collections.abc import Sequence
from pathlib import Path

from bertlab.common.errors import CheckpointError, DataError
from bertlab.common.files import write_atomically, write_text
from bertlab.plots import pretraining_runs

SECONDS_BETWEEN_DRAWINGS = 20
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
    rows = []
    for row in table:
        try:
            values = {name: float(value) for name, value in row.items() if value not in ("", None)}
            rows.append(values | {"step": int(values["step"])})
        except (TypeError, ValueError, KeyError):
            where = f"{path} line {comments + table.line_num}"
            raise DataError(f"{where}: expected a number in every column") from None
    return rows


def objectives_in(rows: Sequence[dict]) -> list[str]:
    """The names of the objectives whose loss a history has: masked_lm, next_sentence … in the columns' order."""
    columns = dict.fromkeys(name for row in rows for name in row if not name.startswith("val_"))
    return [name.removesuffix("_loss") for name in columns if name.endswith("_loss")]


def reference_curves() -> dict[str, Path]:
    """The reference curves in the package, by name."""
    return {path.stem: path for path in sorted(REFERENCES.glob("*.csv"))}


class RunFiles:
    """The files of a run's history: metrics.csv and TensorBoard's logs.

    Each is made from the whole history: a run that was killed and resumed has them complete. curve: whether to draw
    curve.png besides, at most every `SECONDS_BETWEEN_DRAWINGS`, since that can take longer than a short interval.
    """

    def __init__(self, folder: str | Path, curve: bool = True):
        self.folder, self.curve = Path(folder), curve
        self._writer, self._drawn = None, time.monotonic()

    def write(self, rows: Sequence[dict], at_end: bool = False) -> None:
        """Writes the history, and adds its newest row to TensorBoard's logs.

        at_end: draw the curve now. Raises CheckpointError where a file cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        write_metrics(self.folder / METRICS, rows)
        if self.curve and (at_end or time.monotonic() - self._drawn > SECONDS_BETWEEN_DRAWINGS):
            draw({self.folder.name: rows}, self.folder / CURVE)
            self._drawn = time.monotonic()
        self._log(rows)

    def _log(self, rows: Sequence[dict]) -> None:
        """Adds the newest row; the first call in a process replaces older logs with all rows."""
        import tensorflow as tf

        try:
            new = rows[-1:]
            if self._writer is None:
                for old in (self.folder / LOGS).glob("events.out.tfevents.*"):
                    old.unlink()
                self._writer, new = tf.summary.create_file_writer(str(self.folder / LOGS)), rows
            with self._writer.as_default():
                for row in new:
                    values = [tf.compat.v1.Summary.Value(tag=k, simple_value=v) for k, v in row.items() if k != "step"]
                    summary = tf.compat.v1.Summary(value=values)
                    tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step=row["step"])
            self._writer.flush()
        except (OSError, tf.errors.OpError) as error:
            raise CheckpointError(f"{self.folder / LOGS}: cannot be written ({error})") from None


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
    save_figure(path, figure, kind)


def save_figure(path: str | Path, figure, kind: str = "png") -> None:
    """Writes a drawing as png, svg or pdf, whole or not at all. Raises CheckpointError."""
    write_atomically(path, lambda partial: figure.savefig(partial, format=kind, dpi=120), CheckpointError)
