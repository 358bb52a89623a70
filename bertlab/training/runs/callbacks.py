"""Keras callbacks of a training run: history, alarm, the states that a killed run resumes from, progress bar."""

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import keras

from bertlab.common.errors import CheckpointError, TrainingError
from bertlab.common.files import remove_files
from bertlab.common.progress import bar, bars_are_shown
from bertlab.training.objectives import Objective
from bertlab.training.runs.curves import CURVE, LOGS, METRICS, draw, write_metrics
from bertlab.training.runs.state import load_state, save_state

NOT_REPORTED = "bad_step"  # for the alarm only: see `bertlab.training.runs.metrics.FirstBadStep`
SECONDS_BETWEEN_DRAWINGS = 20
_SECONDS_BETWEEN_LINES = 30


class History(keras.callbacks.Callback):
    """Collects one row of metrics per interval: step, seconds of training so far, and the trainer's metrics.

    A metric is left out where there was nothing to measure, such as next-sentence accuracy on rows that are not pairs.

    rows: those of an earlier part of the same run.   interval: steps in a Keras epoch.
    """

    def __init__(self, interval: int, rows: list[dict] | None = None):
        super().__init__()
        self.interval = interval
        self.rows = list(rows or [])

    def on_train_begin(self, logs=None):
        self._before = self.rows[-1]["seconds"] if self.rows else 0.0
        self._start = time.perf_counter()

    def on_epoch_end(self, epoch, logs=None):
        seconds = self._before + time.perf_counter() - self._start
        self.rows.append({"step": (epoch + 1) * self.interval, "seconds": seconds, **measured(logs)})


def measured(logs: dict) -> dict[str, float]:
    """The metrics that were measured: those that are not NaN."""
    names = [name for name in logs if name.removeprefix("val_") != NOT_REPORTED]
    return {name: float(logs[name]) for name in names if not math.isnan(float(logs[name]))}


class Alarm(keras.callbacks.Callback):
    """Stops a pre-training run that diverges, before its state is saved. Comes before `history` in the list.

    Raises TrainingError, with step, batch number and advice, for a loss that is infinite or not a number, and for one
    that has risen: above 1.5 times that of the best interval of the same phase (another phase has other rows, which
    may be harder), or above 1.2 times that of a random guess among all tokens.

    objective: name of the objective whose loss is watched. vocab_size: tokens in the vocabulary. phases: for each the
    number of steps before it and the name of its data. rising: whether a loss that has risen also stops the run.
    """

    def __init__(
        self,
        history: History,
        objective: str,
        vocab_size: int,
        phases: Sequence[tuple[int, str]] = ((0, ""),),
        rising: bool = True,
    ):
        super().__init__()
        self.history, self.key, self.blind = history, f"{objective}_loss", math.log(vocab_size)
        self.phases, self.rising = phases, rising

    def on_epoch_begin(self, epoch, logs=None):
        self._begin = epoch * self.history.interval  # steps before this interval
        self._phase_begin, self._data = [phase for phase in self.phases if phase[0] <= self._begin][-1]

    def on_train_batch_end(self, batch, logs=None):
        if math.isfinite(float(logs["loss"])):
            return
        in_interval = min(int(logs.get(NOT_REPORTED, 0)) or batch + 1, batch + 1)
        step = self._begin + in_interval
        raise TrainingError(
            f"step {step} ({self._batches(step)}): the loss is {float(logs['loss'])}. {self._kept()} "
            "Start again in another folder with a lower learning rate or a longer warm-up"
            f"{', or with --precision bfloat16' if self.model.dtype_policy.name == 'mixed_float16' else ''}"
        )

    def on_epoch_end(self, epoch, logs=None):
        rows = [row for row in self.history.rows if self.key in row]
        if not self.rising or not rows:
            return
        best = min((row[self.key] for row in rows if row["step"] > self._phase_begin), default=math.inf)
        now, end = float(logs[self.key]), self._begin + self.history.interval
        if now > min(1.2 * self.blind, 1.5 * best + 0.1):  # + 0.1: near 0 a factor of 1.5 is noise
            before = best if math.isfinite(best) else rows[-1][self.key]
            raise TrainingError(
                f"steps {self._begin + 1} to {end} ({self._batches(self._begin + 1, end)}): the loss has risen to "
                f"{now:.2f} from {before:.2f}, a random guess has {self.blind:.2f}: the run diverges. {self._kept()} "
                "Start again in another folder with a lower learning rate or a longer warm-up, or use "
                "--no-divergence-check to continue anyway"
            )

    def _batches(self, *steps: int) -> str:
        """The numbers, in their phase, of the batches of the first and the last of these steps."""
        numbers = [str(step - 1 - self._phase_begin) for step in steps]
        data = f" of {self._data}" if self._data else ""
        return f"batch number{'s' * (len(numbers) > 1)} {' to '.join(numbers)}{data}"

    def _kept(self) -> str:
        if not self._begin:
            return "Nothing was saved."
        return f"The state of step {self._begin}, before that, is kept."


class SaveState(keras.callbacks.Callback):
    """Saves the run's state after every interval and keeps the last `keep` files. Comes after `history` in the list."""

    def __init__(self, folder: str | Path, history: History, keep: int = 2):
        super().__init__()
        self.folder = Path(folder)
        self.history = history
        self.keep = keep

    def on_epoch_end(self, epoch, logs=None):
        step = self.history.rows[-1]["step"]
        try:
            keep_state(self.folder, step, self.model, {"history": self.history.rows}, self.keep)
        except CheckpointError as error:
            raise CheckpointError(f"{error}. {self._what_is_kept()}") from None

    def _what_is_kept(self) -> str:
        if len(self.history.rows) < 2:
            return "Free some disk space and run the same command again"
        return _kept(self.history.rows[-2]["step"])


def _kept(step: int) -> str:
    return f"The state of step {step} is kept: free some disk space and run the same command again"


def keep_state(folder: str | Path, step: int, trainer: keras.Model, progress: dict, keep: int) -> None:
    """Saves the state after a step and deletes all but the last `keep` states. Raises CheckpointError."""
    save_state(Path(folder) / f"state-{step:08d}.safetensors", trainer, progress)
    for old in saved_states(folder)[:-keep]:
        old.unlink()


def saved_states(folder: str | Path) -> list[Path]:
    """The states in a run's folder, oldest first."""
    return sorted(Path(folder).glob("state-*.safetensors"))


def remove_states(folder: str | Path) -> None:
    """Deletes the states in a run's folder, and the folder unless it holds anything else."""
    remove_files(folder, ("state-*.safetensors", ".state-*.partial"))


def restore_latest(folder: str | Path, trainer: keras.Model, say=print) -> list[dict]:
    """Loads the newest complete state into the trainer and returns its history; [] when there is none."""
    return (restored_progress(folder, trainer, say) or {}).get("history", [])


def restored_progress(folder: str | Path, trainer: keras.Model, say=print) -> dict | None:
    """Loads the newest complete state into the trainer and returns its progress; None when there is none.

    A truncated file is skipped with a message through `say`. Files that a kill left half written are removed.
    """
    for partial in Path(folder).glob(".state-*.partial"):
        partial.unlink()
    for path in reversed(saved_states(folder)):
        try:
            return load_state(path, trainer)
        except CheckpointError as error:
            if "not a complete training state" not in str(error):
                raise
            say(f"skipped {error}")
    return None


class RunFiles(keras.callbacks.Callback):
    """Writes metrics.csv and TensorBoard's logs after every interval. Comes after `history` and the saving.

    Each is made from the whole history: a run that was killed and resumed has them complete. curve: whether to draw
    curve.png besides, at most every `SECONDS_BETWEEN_DRAWINGS`, since that can take longer than a short interval.
    """

    def __init__(self, folder: str | Path, history, curve: bool = True):
        super().__init__()
        self.folder, self.history, self.curve = Path(folder), history, curve
        self._writer, self._drawn = None, time.monotonic()

    def on_epoch_end(self, epoch, logs=None):
        self.write(self.curve and time.monotonic() - self._drawn > SECONDS_BETWEEN_DRAWINGS)

    def write(self, curve: bool = True) -> None:
        """Writes the files again, draws the curve if asked to, and adds the newest row to TensorBoard's logs."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_metrics(self.folder / METRICS, self.history.rows)
            if self.curve and curve:
                draw({self.folder.name: self.history.rows}, self.folder / CURVE)
                self._drawn = time.monotonic()
        except CheckpointError as error:
            raise CheckpointError(f"{error}. {self._what_is_kept()}") from None
        self._log()

    def _log(self):
        """Adds the newest row to TensorBoard's logs; the first call in a process replaces older logs with all rows."""
        import tensorflow as tf

        rows = self.history.rows[-1:]
        try:
            if self._writer is None:
                for old in (self.folder / LOGS).glob("events.out.tfevents.*"):
                    old.unlink()
                self._writer = tf.summary.create_file_writer(str(self.folder / LOGS))
                rows = self.history.rows
            with self._writer.as_default():
                for row in rows:
                    values = [tf.compat.v1.Summary.Value(tag=k, simple_value=v) for k, v in row.items() if k != "step"]
                    summary = tf.compat.v1.Summary(value=values)
                    tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step=row["step"])
            self._writer.flush()
        except (OSError, tf.errors.OpError) as error:
            raise CheckpointError(
                f"{self.folder / LOGS}: cannot be written ({error}). {self._what_is_kept()}"
            ) from None

    def _what_is_kept(self) -> str:
        return _kept(self.history.rows[-1]["step"])


class ProgressLines:
    """Lines of progress where no bar can be drawn, in a notebook or a log file: at most two a minute.

    The time left is estimated from the steps behind the first one, which is also compiled.

    total_steps: of the whole work. say: called with a line. first_step: steps that are not computed in this process.
    """

    def __init__(self, total_steps: int, say: Callable[[str], object], first_step: int = 0):
        self.total_steps, self.say, self.first_step = total_steps, say, first_step
        self._said = time.perf_counter()
        self._began = None  # when the steps began that the time left is estimated from
        self._compiled = 0  # steps before them

    def begin(self, step: int) -> None:
        """Tells that the first step of this process, or the first few, are done: the last one was number `step`."""
        if self._began is None:
            self._began, self._compiled = time.perf_counter(), step - self.first_step

    def show(self, step: int, note: str) -> None:
        """ "step 200 of 2,400, about 43 min left: loss 3.52 …"."""
        self.begin(step)
        now = time.perf_counter()
        if bars_are_shown() or now - self._said <= _SECONDS_BETWEEN_LINES:
            return
        self._said = now
        measured_steps, left = step - self.first_step - self._compiled, ""
        if measured_steps:
            left = f", about {(now - self._began) / 60 / measured_steps * (self.total_steps - step):,.0f} min left"
        self.say(f"step {step:,} of {self.total_steps:,}{left}: {note}")


class TrainingBar(keras.callbacks.Callback):
    """A progress bar over all steps of a run, with the time left and the latest metrics, for all phases.

    Where no bar can be drawn, in a notebook or a log file, `say` gets a line after an interval instead, twice a minute
    at most. Comes after `history` in the list.
    """

    def __init__(
        self,
        description: str,
        total_steps: int,
        history: History,
        say: Callable[[str], object] = print,
        objectives: Sequence[Objective] = (),
    ):
        super().__init__()
        self.objectives = objectives
        self.description, self.total_steps, self.history, self.say = description, total_steps, history, say
        self.start_step = history.rows[-1]["step"] if history.rows else 0
        self._lines = ProgressLines(total_steps, say, self.start_step)
        self._context = None

    def on_train_begin(self, logs=None):
        self._context = bar(self.description, self.total_steps, self.start_step)
        self._bar = self._context.__enter__()
        self._last = -1

    def on_train_batch_end(self, batch, logs=None):
        steps = batch - self._last  # with steps_per_execution batches come in bundles
        self._bar.advance(steps, note=self._note(logs))
        self.start_step += steps
        self._lines.begin(self.start_step)
        self._last = batch

    def on_epoch_end(self, epoch, logs=None):
        self._last = -1
        row = self.history.rows[-1]
        if row["step"] < self.total_steps:
            self._lines.show(row["step"], self._note(row))

    def _note(self, logs) -> str:
        """ "loss 3.52 perplexity 31.8 masked 34.1% pairs 71.0% 6,400 tokens/s 41% of peak", without what is unknown."""
        metrics = measured(logs or {})
        shown = {"loss": "loss {:.2f}"}
        for objective in self.objectives:
            if objective.over_vocabulary and f"{objective.name}_loss" in metrics:
                metrics[f"{objective.name}_perplexity"] = perplexity(metrics[f"{objective.name}_loss"])
                shown[f"{objective.name}_perplexity"] = "perplexity {:.1f}"
            shown[f"{objective.name}_accuracy"] = objective.short_name + " {:.1%}"
        shown |= {"tokens_per_second": "{:,.0f} tokens/s", "peak_share": "{:.0%} of peak"}
        return " ".join(text.format(metrics[name]) for name, text in shown.items() if name in metrics)

    def on_train_end(self, logs=None):
        self.close()

    def close(self) -> None:
        """Restores the terminal, also after an interrupted run."""
        if self._context is not None:
            self._context.__exit__(None, None, None)
            self._context = None


def perplexity(loss: float) -> float:
    """exp(loss): the number of equally likely tokens with the same loss. Infinite if it is larger than any float."""
    return math.exp(loss) if loss < 700 else math.inf
