"""The one training loop, of pre-training, distillation, fine-tuning, contrastive tuning and word2vec.

    a step        learning rate → update → clock → alarm (`TrainingLoop.step`) → bar (`ProgressLines`)
    an interval   alarm (`Alarm`, in pre-training) → history → state → files (`TrainingLoop.record`)

A run that was killed resumes from its last state (`restored_progress`) and ends with the same bytes, since batches,
dropout and learning rates follow from the step alone. Runs on batches of one shape leave the steps to Keras's `fit`,
which computes several in one call (`run_training`); the end of an interval is the same.
"""

import dataclasses
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import keras

from bertlab.common.errors import CheckpointError, TrainingError
from bertlab.common.progress import bar
from bertlab.training.devices.distribution import on_devices
from bertlab.training.devices.machines import check_same_step
from bertlab.training.runs.callbacks import ProgressLines, keep_state, loss_note, measured, restore_latest
from bertlab.training.runs.curves import RunFiles


@dataclass
class Progress:
    """The progress of a run, which its states hold. seconds: of training. rows: the history, a row per interval."""

    step: int = 0
    seconds: float = 0.0
    rows: list[dict] = field(default_factory=list)

    def to_dict(self) -> dict:
        """JSON values, from which the same progress can be made."""
        return dataclasses.asdict(self)


class TrainingLoop:
    """The order of a training step, and of the end of an interval of steps.

    Args:
        trainer: a compiled model.   progress: where the run begins.   interval: steps between two states.
        states: the folder of the states, of which the last `keep` stay; None: none are saved.
        files: what the history is written to, if anything.
        advice: the end of the sentence about a loss that is infinite or not a number.
    """

    def __init__(
        self,
        trainer: keras.Model,
        progress: Progress,
        interval: int,
        states: Path | None = None,
        files: RunFiles | None = None,
        advice: str = "",
        keep: int = 2,
    ):
        self.trainer, self.progress, self.interval = trainer, progress, interval
        self.states, self.files, self.advice, self.keep = states, files, advice, keep
        self._saved = progress.step  # the step of the last state

    @property
    def rows(self) -> list[dict]:
        """The history so far."""
        return self.progress.rows

    @property
    def is_interval_over(self) -> bool:
        """Whether a state is due after this step."""
        return self.progress.step % self.interval == 0

    def step(self, batch: dict, learning_rate: float, name: str | None = None) -> float:
        """One update of the weights; returns its loss.

        name: of the step in the TrainingError that a loss that is infinite or NaN raises.
        """
        began = time.perf_counter()
        self.trainer.optimizer.learning_rate.assign(learning_rate)
        loss = float(self.trainer.train_on_batch(on_devices(batch), return_dict=True)["loss"])
        self.progress.step += 1
        self.progress.seconds += time.perf_counter() - began
        if not math.isfinite(loss):
            raise TrainingError(f"the loss of {name or f'step {self.progress.step}'} is infinite or NaN {self.advice}")
        return loss

    def record(self, row: dict | None, save: bool = True) -> None:
        """Ends an interval: a row of the history, the state, the files.

        row: what was measured, if anything was.   save: whether to save a state.
        Raises CheckpointError, with the state that is kept, where a file cannot be written.
        """
        progress = self.progress
        if row is not None:
            progress.rows.append({"step": progress.step, "seconds": progress.seconds} | row)
        with self._told_what_is_kept():
            if save and self.states is not None:
                keep_state(self.states, progress.step, self.trainer, progress.to_dict(), self.keep)
                self._saved = progress.step
            if row is not None and self.files is not None:
                self.files.write(progress.rows)

    def complete_files(self) -> None:
        """Writes the history again, after the last interval: a kill may have left it behind. Draws the curve."""
        if self.files is not None:
            with self._told_what_is_kept():
                self.files.write(self.rows, at_end=True)

    @contextmanager
    def _told_what_is_kept(self) -> Iterator[None]:
        try:
            yield
        except CheckpointError as error:
            kept = f"The state of step {self._saved} is kept: free" if self._saved else "Free"
            raise CheckpointError(f"{error}. {kept} some disk space and run the same command again") from None


# === Batches of one shape, in Keras's `fit` ===


@dataclass(frozen=True)
class Phase:
    """A part of a run on one kind of batches, such as BERT's 128 and then 512 tokens.

    steps: how many, a multiple of the run's interval. batches: given a step of the phase, the data set of batches
    from that step on; the same ones at every call. validation: a data set evaluated after every interval, if any.
    """

    steps: int
    batches: Callable
    validation: object = None


@dataclass
class _History(Progress):
    """The progress of a run in `fit`, which follows from its history alone."""

    @classmethod
    def of(cls, rows: list[dict]) -> "_History":
        return cls(rows[-1]["step"], rows[-1]["seconds"], rows) if rows else cls()

    def to_dict(self) -> dict:
        return {"history": self.rows}


class _InFit(keras.callbacks.Callback):
    """Tells the loop what `fit` has done: a bundle of steps, an interval."""

    def __init__(self, loop: TrainingLoop, lines: ProgressLines, objectives: Sequence):
        super().__init__()
        self.loop, self.lines, self.objectives = loop, lines, objectives

    def on_train_begin(self, logs=None):
        self._before, self._began = self.loop.progress.seconds, time.perf_counter()

    def on_epoch_begin(self, epoch, logs=None):
        self._last = -1

    def on_train_batch_end(self, batch, logs=None):
        self.lines.move(batch - self._last, loss_note(logs, self.objectives))
        self._last = batch

    def on_epoch_end(self, epoch, logs=None):
        progress = self.loop.progress
        progress.step = (epoch + 1) * self.loop.interval
        progress.seconds = self._before + time.perf_counter() - self._began
        self.loop.record(measured(logs))
        if progress.step < self.lines.total_steps:
            self.lines.show(loss_note(progress.rows[-1], self.objectives))


def run_training(
    trainer: keras.Model,
    phases: Sequence[Phase],
    *,
    interval: int,
    folder: str | Path,
    description: str = "Pre-training",
    callbacks: Sequence = (),
    checks: Callable[[TrainingLoop], Sequence] = lambda loop: (),
    files: RunFiles | None = None,
    keep: int = 2,
    say: Callable[[str], object] = print,
    writes: bool = True,
) -> list[dict]:
    """Trains phase after phase, reporting and saving every `interval` steps; resumes from the states in `folder`.

    An interval in which the run was killed is repeated from its start, with the same batches,
    dropout and learning rates, so the run ends as if it had never stopped.

    Args:
        trainer: compiled, with its weights made.
        folder: where the state files go; the last `keep` stay there.
        callbacks: Keras callbacks that come after the end of an interval.
        checks: gives Keras callbacks that come before it and may add metrics to the logs or raise.
        files: what the history is written to.
        say: called with a message about a state that was skipped.
        writes: whether this process writes states and files and shows the bar; of several machines only the chief does.

    Returns the history: a dict for each interval, with step, seconds of training so far and the trainer's metrics.
    """
    for phase in phases:
        if phase.steps % interval:
            raise ValueError(f"the steps of a phase, {phase.steps}, must be a multiple of interval {interval}")
    trainer.optimizer.build(trainer.trainable_variables)
    progress = _History.of(restore_latest(folder, trainer, say))
    check_same_step(progress.step)
    loop = TrainingLoop(trainer, progress, interval, Path(folder) if writes else None, files if writes else None,
                        keep=keep)  # fmt: skip
    total, before = sum(phase.steps for phase in phases), checks(loop)
    step, begin = progress.step, 0
    with bar(description, total, step) if writes else nullcontext() as running:
        lines = ProgressLines(total, say if writes else lambda line: None, step, running)
        for phase in phases:
            end = begin + phase.steps
            if step < end:
                # Compiled again for every phase: TensorFlow would adapt the first phase's graph to rows of any length,
                # which rounds differently from the graph of a run that resumes in this phase.
                trainer.train_function = None
                trainer.fit(
                    phase.batches(step - begin),
                    initial_epoch=step // interval,
                    epochs=end // interval,
                    steps_per_epoch=interval,
                    validation_data=phase.validation,
                    shuffle=False,  # the batches are already in order
                    verbose=0,
                    callbacks=[*before, _InFit(loop, lines, trainer.objectives), *callbacks],
                )
                step = end
            begin = end
    loop.complete_files()
    return progress.rows
