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
from bertlab.common.progress import bar, bars_are_shown
from bertlab.training.devices.distribution import check_same_step, on_devices
from bertlab.training.objectives import Objective
from bertlab.training.runs.curves import RunFiles
from bertlab.training.runs.pretrainer import NOT_REPORTED
from bertlab.training.runs.state import keep_state, restored_progress

_SECONDS_BETWEEN_LINES = 30


@dataclass
class Progress:
    """The progress of a run, which its states hold. seconds: of training. rows: the history, a row per interval."""

    step: int = 0
    seconds: float = 0.0
    rows: list[dict] = field(default_factory=list)

    def to_dict(self) -> dict:
        """JSON values, the arguments of the same progress."""
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
    def is_interval_over(self) -> bool:
        """Whether a state is due after this step."""
        return self.progress.step % self.interval == 0

    def step(self, batch: dict, learning_rate: float, name: str | None = None) -> float:
        """One update of the weights; returns its loss. Raises TrainingError for one that is infinite or NaN."""
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
                self.files.write(self.progress.rows, at_end=True)

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
    """A part of a run on one kind of batches, such as BERT's 128 and then 512 tokens."""

    steps: int  # a multiple of the run's interval
    batches: Callable  # a step of the phase → the data set of batches from that step on, always the same ones
    validation: object = None  # a data set that is evaluated after every interval
    callbacks: Sequence = ()  # of Keras; they add metrics to the logs
    data: str = ""  # its name, for messages


@dataclass
class _History(Progress):
    """The progress of a run in `fit`, which follows from its history alone."""

    def to_dict(self) -> dict:
        return {"history": self.rows}


class _InFit(keras.callbacks.Callback):
    """Tells the loop what `fit` has done: a bundle of steps, an interval."""

    def __init__(self, loop: TrainingLoop, lines: "ProgressLines", objectives: Sequence[Objective]):
        super().__init__()
        self.loop, self.lines, self.objectives = loop, lines, objectives

    def on_train_begin(self, logs=None):
        self._before, self._began = self.loop.progress.seconds, time.perf_counter()

    def on_train_batch_end(self, batch, logs=None):
        done = self.loop.progress.step + batch + 1
        self.lines.move(done - self.lines.done, loss_note(logs, self.objectives))

    def on_epoch_end(self, epoch, logs=None):
        progress = self.loop.progress
        progress.step += self.loop.interval
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
    callbacks: Sequence = (),
    divergence_check: bool = True,
    files: RunFiles | None = None,
    keep: int = 2,
    say: Callable[[str], object] = print,
    writes: bool = True,
) -> list[dict]:
    """Trains phase after phase, reporting and saving every `interval` steps; resumes from the states in `folder`.

    An interval in which the run was killed is repeated from its start, so the run ends as if it had never stopped.

    Args:
        trainer: a compiled `PreTrainer`, with its weights made.
        folder: where the state files go; the last `keep` stay there.
        callbacks: Keras callbacks that come after the end of an interval.
        divergence_check: see `Alarm`.
        files: what the history is written to.
        say: called with a message about a state that was skipped.
        writes: whether this process writes states and files and shows the bar; of several machines only the chief does.

    Returns the history: a dict for each interval, with step, seconds of training so far and the trainer's metrics.
    """
    trainer.optimizer.build(trainer.trainable_variables)
    rows = (restored_progress(folder, trainer, say) or {}).get("history", [])
    progress = _History(rows[-1]["step"], rows[-1]["seconds"], rows) if rows else _History()
    check_same_step(progress.step)
    if not writes:
        files, say = None, lambda line: None
    loop = TrainingLoop(trainer, progress, interval, Path(folder) if writes else None, files, keep=keep)
    total, begin = sum(phase.steps for phase in phases), 0
    with bar("Pre-training", total, progress.step) if writes else nullcontext() as running:
        in_fit = _InFit(loop, ProgressLines(total, say, progress.step, running), trainer.objectives)
        for phase in phases:
            end = begin + phase.steps
            if progress.step < end:
                alarm = Alarm(loop, trainer, begin, phase.data, divergence_check)
                # Compiled again for every phase: TensorFlow would adapt the first phase's graph to rows of any length,
                # which rounds differently from the graph of a run that resumes in this phase.
                trainer.train_function = None
                trainer.fit(
                    phase.batches(progress.step - begin),
                    initial_epoch=progress.step // interval,
                    epochs=end // interval,
                    steps_per_epoch=interval,
                    validation_data=phase.validation,
                    shuffle=False,  # the batches are already in order
                    verbose=0,
                    callbacks=[*phase.callbacks, alarm, in_fit, *callbacks],
                )
            begin = end
    loop.complete_files()
    return progress.rows


class Alarm(keras.callbacks.Callback):
    """Stops a pre-training run that diverges, before its state is saved.

    Raises TrainingError, with step, batch number and advice, for a loss that is infinite or not a number, and for one
    that has risen: above 1.5 times that of the best interval of the same phase (another phase has other rows, which
    may be harder), or above 1.2 times that of a random guess among all tokens.

    trainer: a `PreTrainer`; the loss of its first objective is watched. begin: the steps before the phase. data: the
    name of its data. rising: whether a loss over the vocabulary that has risen also stops the run.
    """

    def __init__(self, loop: TrainingLoop, trainer: keras.Model, begin: int, data: str, rising: bool):
        super().__init__()
        self.loop, self.begin, self.data = loop, begin, data
        watched = trainer.objectives[0]
        self.key, self.rising = f"{watched.name}_loss", rising and watched.over_vocabulary
        self.random_guess = math.log(trainer.bert.config.vocab_size)

    def on_train_batch_end(self, batch, logs=None):
        if math.isfinite(float(logs["loss"])):
            return
        in_interval = min(int(logs.get(NOT_REPORTED, 0)) or batch + 1, batch + 1)
        step = self.loop.progress.step + in_interval
        raise TrainingError(
            f"step {step} (batch number {step - 1 - self.begin}{self._of_data()}): the loss is {float(logs['loss'])}. "
            f"{self._kept()} Start again in another folder with a lower learning rate or a longer warm-up"
            f"{', or with --precision bfloat16' if self.model.dtype_policy.name == 'mixed_float16' else ''}"
        )

    def on_epoch_end(self, epoch, logs=None):
        rows = [row for row in self.loop.progress.rows if self.key in row]
        if not self.rising or not rows:
            return
        best = min((row[self.key] for row in rows if row["step"] > self.begin), default=math.inf)
        now, done = float(logs[self.key]), self.loop.progress.step
        if now > min(1.2 * self.random_guess, 1.5 * best + 0.1):  # + 0.1: near 0 a factor of 1.5 is noise
            before = best if math.isfinite(best) else rows[-1][self.key]
            first, last = done - self.begin, done - self.begin + self.loop.interval - 1
            raise TrainingError(
                f"steps {done + 1} to {done + self.loop.interval} (batch numbers {first} to {last}{self._of_data()}): "
                f"the loss has risen to {now:.2f} from {before:.2f}, a random guess has {self.random_guess:.2f}: the "
                f"run diverges. {self._kept()} Start again in another folder with a lower learning rate or a longer "
                "warm-up, or use --no-divergence-check to continue anyway"
            )

    def _of_data(self) -> str:
        return f" of {self.data}" if self.data else ""

    def _kept(self) -> str:
        saved = self.loop.progress.step
        return f"The state of step {saved}, before that, is kept." if saved else "Nothing was saved."


# === Progress ===


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


def measured(logs: dict) -> dict[str, float]:
    """The metrics that were measured: those that are not NaN."""
    names = [name for name in logs if name.removeprefix("val_") != NOT_REPORTED]
    return {name: float(logs[name]) for name in names if not math.isnan(float(logs[name]))}


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
