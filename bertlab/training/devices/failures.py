"""Translates errors of a backend into errors for the user: a lost machine, too little memory, a damaged record."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from bertlab.common.errors import DataError, TrainingError
from bertlab.training.devices.distribution import this_machine

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
    except Exception as error:
        translated = _translated(error)
        if translated is None:
            raise
        raise translated from None


def _translated(error: Exception) -> Exception | None:
    text = str(error).strip()
    status = _status(error, text)
    if status is None:
        return None
    first = (text.splitlines() or [""])[0][:200]
    in_the_data = _IN_THE_DATA.search(text)
    if in_the_data:
        return DataError(in_the_data[1].strip())
    if status == _NO_MEMORY:
        return TrainingError(
            f"the device is out of memory ({first}): start again in another folder with a larger "
            "--accumulation, which computes each update in more parts, or with a smaller model"
        )
    if this_machine().count > 1 and (status in _LOST or _CUT_OFF.search(text)):
        return TrainingError(
            f"another machine cannot be reached any more ({first}). The last state is kept: run the same command "
            "again on every machine"
        )
    return None


def _status(error: Exception, text: str) -> str | None:
    """The status that TensorFlow and JAX give their errors, such as UNAVAILABLE; None for an error of no backend."""
    from tensorflow import errors  # TensorFlow makes the batches for every backend

    if isinstance(error, errors.OpError):
        names = {getattr(errors, name): name for name in (*_LOST, _NO_MEMORY)}
        return names.get(error.error_code, "")
    if type(error).__name__ == "OutOfMemoryError":  # PyTorch's, which has no status
        return _NO_MEMORY
    if type(error).__name__ == "JaxRuntimeError":
        return text.split(":", 1)[0]  # "RESOURCE_EXHAUSTED: Out of memory …"
    return None
