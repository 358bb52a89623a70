"""Loads the backend without its start-up notes."""

import os
import sys
import tempfile


def load_backend() -> None:
    """Imports Keras and its backend.

    TensorFlow writes notes about the machine to file descriptor 2 before any log level is read. They are held back
    here, and shown if the import fails.
    """
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
