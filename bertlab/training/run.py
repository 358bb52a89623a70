"""One training run that can be stopped at any moment and started again with the same command."""

from collections.abc import Callable
from pathlib import Path

import keras

from bertlab.training.callbacks import History, SaveState, TrainingBar, restore_latest


def run_training(
    trainer: keras.Model,
    batches: Callable,
    *,
    total_steps: int,
    interval: int,
    folder: str | Path,
    validation=None,
    description: str = "Pre-training",
    callbacks: tuple = (),
) -> list[dict]:
    """Trains for `total_steps`, reporting and saving every `interval` steps; goes on from what `folder` holds.

    An interval that was under way when the run was killed is done again from its start, with the same batches,
    dropout and learning rates, so the run ends as if it had never stopped.

    Args:
        trainer: compiled, with its weights made.
        batches: given a step, the data set of batches from that step on (the same ones at every call).
        total_steps: a multiple of interval.
        folder: where the state files go.
        validation: a data set evaluated after every interval, if any.

    Returns the history: one dict per interval (see `History`).
    """
    if total_steps % interval:
        raise ValueError(f"total_steps {total_steps} must be a multiple of interval {interval}")
    trainer.optimizer.build(trainer.trainable_variables)
    rows = restore_latest(folder, trainer)
    start = rows[-1]["step"] if rows else 0
    if start >= total_steps:
        return rows
    history = History(interval, rows)
    trainer.fit(
        batches(start),
        initial_epoch=start // interval,
        epochs=total_steps // interval,
        steps_per_epoch=interval,
        validation_data=validation,
        verbose=0,
        callbacks=[
            history,
            SaveState(folder, history),
            TrainingBar(description, total_steps, start),
            *callbacks,
        ],
    )
    return history.rows
