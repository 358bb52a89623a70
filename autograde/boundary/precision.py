"""Keras's settings of precision that a student's cell may have changed: a check asks in float32 with any of them."""

import contextlib
import sys
from collections.abc import Iterator

USUAL = "float32"


def changed() -> list[str]:
    """The settings that are not the usual ones, as a student writes them; none where Keras is not loaded."""
    keras = sys.modules.get("keras")
    if keras is None:
        return []
    policy, numbers = keras.config.dtype_policy().name, keras.config.floatx()
    return [
        *([f"keras.config.set_dtype_policy({policy!r})"] if policy not in (USUAL, numbers) else []),
        *([f"keras.config.set_floatx({numbers!r})"] if numbers != USUAL else []),
    ]


@contextlib.contextmanager
def usual() -> Iterator[None]:
    """Inside of it new layers and new tensors are float32; afterwards the settings are as before."""
    keras = sys.modules.get("keras")
    if keras is None:
        yield
        return
    policy, numbers = keras.config.dtype_policy(), keras.config.floatx()
    if (policy.name, numbers) == (USUAL, USUAL):
        yield
        return
    keras.config.set_floatx(USUAL)
    keras.config.set_dtype_policy(USUAL)
    try:
        yield
    finally:
        keras.config.set_floatx(numbers)
        keras.config.set_dtype_policy(policy)
