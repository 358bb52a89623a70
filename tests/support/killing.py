"""A run that is killed: nothing in it catches `Killed`."""

import keras


class Killed(BaseException):
    """Ends a run as a kill does."""


def killer(event: str, at: int | None = None) -> keras.callbacks.Callback:
    """A callback that kills the run at an event, such as on_epoch_end: where its number is `at`, or at the first."""

    def kill(number=None, logs=None):
        if at in (None, number):
            raise Killed

    return keras.callbacks.LambdaCallback(**{event: kill})
