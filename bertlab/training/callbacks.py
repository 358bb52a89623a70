"""Keras callbacks of a training run: a progress bar, and the state that lets a killed run go on."""

import time
from pathlib import Path

import keras

from bertlab.errors import CheckpointError
from bertlab.progress import bar
from bertlab.training.state import load_state, save_state


class History(keras.callbacks.Callback):
    """Collects one row of figures per interval: step, seconds of training so far, and what the trainer reports.

    A figure is left out where there was nothing to measure, such as next-sentence accuracy on rows that are no pairs.

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
        empty = {m.name for m in self.model.metrics if isinstance(m, keras.metrics.Mean) and float(m.count) == 0}
        figures = {name: float(value) for name, value in logs.items() if name.removeprefix("val_") not in empty}
        self.rows.append({"step": (epoch + 1) * self.interval, "seconds": seconds, **figures})


class SaveState(keras.callbacks.Callback):
    """Saves the run's state after every interval and keeps the last `keep` files. Comes after `history` in the list."""

    def __init__(self, folder: str | Path, history: History, keep: int = 2):
        super().__init__()
        self.folder = Path(folder)
        self.history = history
        self.keep = keep

    def on_epoch_end(self, epoch, logs=None):
        step = self.history.rows[-1]["step"]
        save_state(self.folder / f"state-{step:08d}.safetensors", self.model, {"history": self.history.rows})
        for old in saved_states(self.folder)[: -self.keep]:
            old.unlink()


def saved_states(folder: str | Path) -> list[Path]:
    """The states in a run's folder, oldest first."""
    return sorted(Path(folder).glob("state-*.safetensors"))


def restore_latest(folder: str | Path, trainer: keras.Model, say=print) -> list[dict]:
    """Puts the newest complete state into the trainer and returns its history; [] when there is none.

    A truncated file is skipped with a message through `say`.
    """
    for path in reversed(saved_states(folder)):
        try:
            return load_state(path, trainer)["history"]
        except CheckpointError as error:
            if "not a complete training state" not in str(error):
                raise
            say(f"skipped {error}")
    return []


class TrainingBar(keras.callbacks.Callback):
    """A progress bar over all steps of a run, with the time left and the latest figures; serves phase after phase."""

    def __init__(self, description: str, total_steps: int, start_step: int = 0):
        super().__init__()
        self.description, self.total_steps, self.start_step = description, total_steps, start_step

    def on_train_begin(self, logs=None):
        self._context = bar(self.description, self.total_steps, self.start_step)
        self._bar = self._context.__enter__()
        self._last = -1

    def on_train_batch_end(self, batch, logs=None):
        steps = batch - self._last  # with steps_per_execution batches come in bundles
        self._bar.advance(steps, note=_note(logs))
        self.start_step += steps
        self._last = batch

    def on_epoch_end(self, epoch, logs=None):
        self._last = -1

    def on_train_end(self, logs=None):
        self._context.__exit__(None, None, None)


def _note(logs) -> str:
    shown = {"loss": "loss {:.2f}", "masked_lm_accuracy": "masked accuracy {:.1%}", "accuracy": "accuracy {:.1%}"}
    return " ".join(text.format(float(logs[name])) for name, text in shown.items() if name in (logs or {}))
