"""A run that is killed: nothing in it catches `Killed`."""

from itertools import count

import keras


class Killed(BaseException):
    """Ends a run as a kill does."""


def killer(event: str, at: int | None = None) -> keras.callbacks.Callback:
    """A callback that kills the run at an event, such as on_epoch_end: where its number is `at`, or at the first."""

    def kill(number=None, logs=None):
        if at in (None, number):
            raise Killed

    return keras.callbacks.LambdaCallback(**{event: kill})


def killer_after(steps: int) -> keras.callbacks.Callback:
    """A callback that kills the run at the end of the step of this number, counted from where the run begins."""
    numbers = count(1)

    def kill(number, logs=None):
        if next(numbers) == steps:
            raise Killed

    return keras.callbacks.LambdaCallback(on_train_batch_end=kill)
