"""Parts of a training run: the alarm, the states that a killed run resumes from, lines of progress."""

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import keras

from bertlab.common.errors import CheckpointError, TrainingError
from bertlab.common.files import remove_files
from bertlab.common.progress import bars_are_shown
from bertlab.training.objectives import Objective
from bertlab.training.runs.state import load_state, save_state

NOT_REPORTED = "bad_step"  # for the alarm only: see `bertlab.training.runs.metrics.FirstBadStep`
_SECONDS_BETWEEN_LINES = 30


def measured(logs: dict) -> dict[str, float]:
    """The metrics that were measured: those that are not NaN."""
    names = [name for name in logs if name.removeprefix("val_") != NOT_REPORTED]
    return {name: float(logs[name]) for name in names if not math.isnan(float(logs[name]))}


class Alarm(keras.callbacks.Callback):
    """Stops a pre-training run that diverges, before its state is saved.

    Raises TrainingError, with step, batch number and advice, for a loss that is infinite or not a number, and for one
    that has risen: above 1.5 times that of the best interval of the same phase (another phase has other rows, which
    may be harder), or above 1.2 times that of a random guess among all tokens.

    history: what has the run's `interval` and `rows`, such as a `TrainingLoop`. objective: name of the objective whose
    loss is watched. vocab_size: tokens in the vocabulary. phases: for each the number of steps before it and the name
    of its data. rising: whether a loss that has risen also stops the run.
    """

    def __init__(
        self,
        history,
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


class ProgressLines:
    """The progress of a run in steps: a bar or, where none can be drawn, lines, at most two a minute.

    The time left is estimated from the steps behind the first one, which is also compiled.

    Args:
        total_steps: of the whole work.   say: called with a line.
        first_step: steps that are not computed in this process.   running: the `bar` that moves, if any.
    """

    def __init__(self, total_steps: int, say: Callable[[str], object], first_step: int = 0, running=None):
        self.total_steps, self.say, self.first_step, self.running = total_steps, say, first_step, running
        self.done = first_step
        self._said = time.perf_counter()
        self._began = None  # when the steps began that the time left is estimated from
        self._compiled = 0  # steps before them

    def advance(self, steps: float, note: str) -> None:
        """Moves on by the steps that were just computed; they may have been 0."""
        self.move(steps, note)
        self.show(note)

    def move(self, steps: float, note: str) -> None:
        """Moves the bar, without a line."""
        self.done += steps
        if self.running is not None:
            self.running.advance(steps, note=note)
        if self._began is None:
            self._began, self._compiled = time.perf_counter(), self.done - self.first_step

    def skip(self, steps: float) -> None:
        """Moves over steps that are not computed now."""
        self.done += steps
        self.first_step += steps
        if self.running is not None:
            self.running.advance(steps)

    def show(self, note: str) -> None:
        """ "step 200 of 2,400, about 43 min left: loss 3.52 …"."""
        now = time.perf_counter()
        if bars_are_shown() or now - self._said <= _SECONDS_BETWEEN_LINES:
            return
        self._said = now
        measured_steps, left = self.done - self.first_step - self._compiled, ""
        if measured_steps:
            minutes = (now - self._began) / 60 / measured_steps * (self.total_steps - self.done)
            left = f", about {minutes:,.0f} min left"
        self.say(f"step {round(self.done):,} of {self.total_steps:,}{left}: {note}")


def loss_note(logs: dict, objectives: Sequence[Objective]) -> str:
    """ "loss 3.52 perplexity 31.8 masked 34.1% pairs 71.0% 6,400 tokens/s 41% of peak", without what is unknown."""
    metrics = measured(logs)
    shown = {"loss": "loss {:.2f}"}
    for objective in objectives:
        if objective.over_vocabulary and f"{objective.name}_loss" in metrics:
            metrics[f"{objective.name}_perplexity"] = perplexity(metrics[f"{objective.name}_loss"])
            shown[f"{objective.name}_perplexity"] = "perplexity {:.1f}"
        shown[f"{objective.name}_accuracy"] = objective.short_name + " {:.1%}"
    shown |= {"tokens_per_second": "{:,.0f} tokens/s", "peak_share": "{:.0%} of peak"}
    return " ".join(text.format(metrics[name]) for name, text in shown.items() if name in metrics)


def perplexity(loss: float) -> float:
    """exp(loss): the number of equally likely tokens with the same loss. Infinite if it is larger than any float."""
    return math.exp(loss) if loss < 700 else math.inf
