"""The errors a user can cause. Each message contains the problem, its location, the expected value and the remedy.

The command line prints the message of a `BertLabError` as one line and exits with 2; any other
exception is a bug in BertLab and keeps its traceback.
"""


class BertLabError(Exception):
    """Base class of the errors that a user's input, files or settings can cause."""


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
