"""One training run that can be stopped at any moment and started again with the same command."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bertlab.training.devices.machines import check_same_step
from bertlab.training.runs.callbacks import History, SaveState, TrainingBar, restore_latest
from bertlab.training.runs.pretrainer import PreTrainer


@dataclass(frozen=True)
class Phase:
    """A part of a run on one kind of batches, such as BERT's 128 and then 512 tokens.

    steps: how many, a multiple of the run's interval. batches: given a step of the phase, the data set of batches
    from that step on; the same ones at every call. validation: a data set evaluated after every interval, if any.
    """

    steps: int
    batches: Callable
    validation: object = None


def run_training(
    trainer: PreTrainer,
    phases: Sequence[Phase],
    *,
    interval: int,
    folder: str | Path,
    description: str = "Pre-training",
    callbacks: tuple | Callable[[History], tuple] = (),
    checks: tuple | Callable[[History], tuple] = (),
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
        callbacks: Keras callbacks that come after the saving.
        checks: Keras callbacks that come before it and may add metrics to the logs or raise. Both may also be a
            function of the run's `History` that returns them.
        say: called with a message about a state that was skipped.
        writes: whether this process saves the states and shows the bar; of several machines only the chief does.

    Returns the history: one dict per interval (see `History`).
    """
    for phase in phases:
        if phase.steps % interval:
            raise ValueError(f"the steps of a phase, {phase.steps}, must be a multiple of interval {interval}")
    trainer.optimizer.build(trainer.trainable_variables)
    rows = restore_latest(folder, trainer, say)
    step = rows[-1]["step"] if rows else 0
    check_same_step(step)
    history = History(interval, rows)
    progress = TrainingBar(description, sum(phase.steps for phase in phases), history, say, trainer.objectives)
    before, after = (given(history) if callable(given) else given for given in (checks, callbacks))
    own = (SaveState(folder, history, keep), progress) if writes else ()
    begin = 0
    try:
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
                    callbacks=[*before, history, *own, *after],
                )
                step = end
            begin = end
    finally:
        progress.close()
    return history.rows
