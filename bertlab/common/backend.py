"""Loads the backend without its start-up notes."""

import os
import sys
import tempfile
from importlib.util import find_spec

from bertlab.common.errors import ConfigError, MissingDependencyError

BACKENDS = ("tensorflow", "jax", "torch")
_VARIABLE = "KERAS_BACKEND"


def load_backend() -> None:
    """Imports Keras and its backend. Raises ConfigError for another one in KERAS_BACKEND, and MissingDependencyError.

    TensorFlow writes notes about the machine to file descriptor 2 before any log level is read. They are held back
    here, and shown if the import fails.
    """
    _check_choice(os.environ.get(_VARIABLE))
    sys.stderr.flush()
    terminal = os.dup(2)
    with tempfile.TemporaryFile() as notes:
        os.dup2(notes.fileno(), 2)
        try:
            import keras  # noqa: F401
        except BaseException:
            notes.seek(0)
            os.write(terminal, notes.read())
            raise
        finally:
            sys.stderr.flush()
            os.dup2(terminal, 2)
            os.close(terminal)


def _check_choice(name: str | None) -> None:
    if not name:
        return
    if name not in BACKENDS:
        raise ConfigError(f"{_VARIABLE}={name}: expected {', '.join(BACKENDS[:-1])} or {BACKENDS[-1]}")
    if find_spec(name) is None:
        raise MissingDependencyError(f"{_VARIABLE}={name}: {name} is not installed; install it, or unset the variable")
