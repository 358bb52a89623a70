"""Translates errors of a backend into errors for the user: a lost machine, too little memory, a damaged record."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import keras

from bertlab.common.errors import DataError, TrainingError
from bertlab.training.devices.machines import this_machine

_LOST = ("UNAVAILABLE", "ABORTED", "CANCELLED", "DEADLINE_EXCEEDED")
# Messages of Gloo and NCCL, which JAX passes on with an unspecific status.
_CUT_OFF = re.compile("connection (closed|reset) by peer|remote process exited", re.IGNORECASE)
_NO_MEMORY = "RESOURCE_EXHAUSTED"
_IN_THE_DATA = re.compile(r"\bDataError: (.+)")  # the text of tf.data's own error contains Python's


@contextmanager
def backend_errors() -> Iterator[None]:
    """Turns the backend's errors that a user can do something about into a DataError or TrainingError with advice.

    All other errors pass unchanged.
    """
    try:
        yield
    except _error_types() as error:
        translated = _translated(error)
        if translated is None:
            raise
        raise translated from None


def _error_types() -> tuple:
    """The types of the backend's errors, and TensorFlow's, which makes the batches for every backend."""
    from tensorflow import errors

    if keras.backend.backend() == "jax":
        from jax.errors import JaxRuntimeError

        return errors.OpError, JaxRuntimeError
    if keras.backend.backend() == "torch":
        from torch import OutOfMemoryError

        return errors.OpError, OutOfMemoryError
    return (errors.OpError,)


def _translated(error: Exception) -> Exception | None:
    text = str(error).strip()
    first = (text.splitlines() or [""])[0][:200]
    code = _code(error, text)
    in_the_data = _IN_THE_DATA.search(text)
    if in_the_data:
        return DataError(in_the_data[1].strip())
    if code == _NO_MEMORY:
        return TrainingError(
            f"the device is out of memory ({first}): start again in another folder with a larger "
            "--accumulation, which computes each update in more parts, or with a smaller model"
        )
    if this_machine().count > 1 and (code in _LOST or _CUT_OFF.search(text)):
        return TrainingError(
            f"another machine cannot be reached any more ({first}). The last state is kept: run the same command "
            "again on every machine"
        )
    return None


def _code(error: Exception, text: str) -> str:
    """The status that TensorFlow and JAX give their errors, such as UNAVAILABLE."""
    from tensorflow import errors

    if isinstance(error, errors.OpError):
        names = {getattr(errors, name): name for name in (*_LOST, _NO_MEMORY)}
        return names.get(error.error_code, "")
    if type(error).__name__ == "OutOfMemoryError":  # PyTorch's, which has no status
        return _NO_MEMORY
    return text.split(":", 1)[0]  # JAX: "RESOURCE_EXHAUSTED: Out of memory …"
