"""The errors a user can cause. Each message contains the problem, its location, the expected value and the remedy.

The command line prints the message of a `BertLabError` as one line and exits with 2; any other
exception is a bug in BertLab and keeps its traceback.
"""

import re
from contextlib import contextmanager
from contextvars import ContextVar

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_IN_SHELL = ContextVar("in_shell", default=False)


@contextmanager
def in_shell():
    """Inside, advice names the options of the command line; elsewhere the arguments of Python."""
    before = _IN_SHELL.set(True)
    try:
        yield
    finally:
        _IN_SHELL.reset(before)


def asked(shell: str, python: str) -> str:
    """The user's way to ask for something: an option where a command runs, an argument where Python is used."""
    return shell if _IN_SHELL.get() else python


class BertLabError(Exception):
    """Base class of the errors that a user's input, files or settings can cause.

    A message is plain text: colours of a terminal, which a backend's message may have, are removed.
    """

    # Keras would put the message, in bold, before all arguments of the layers that the error came through.
    _keras_call_info_injected = True

    def __init__(self, *args):
        super().__init__(*(_COLOUR.sub("", one) if isinstance(one, str) else one for one in args))


class BertLabWarning(UserWarning):
    """Something that is possible, but perhaps not meant. The command line prints the message as one line."""


class ConfigError(BertLabError, ValueError):
    """A configuration that contradicts itself or cannot be read."""


class VocabularyError(BertLabError, ValueError):
    """A vocabulary file that is missing, malformed or lacks a special token."""


class DataError(BertLabError, ValueError):
    """Text, records or labelled data that cannot be used as asked."""


class CheckpointError(BertLabError, ValueError):
    """A checkpoint that is missing, truncated, of another shape or of another kind."""


class TrainingError(BertLabError, ArithmeticError):
    """A training run that failed: its loss is not a number, or has risen too far."""


class MissingDependencyError(BertLabError, ImportError):
    """An optional package is needed; the message names it and the command that installs it."""
