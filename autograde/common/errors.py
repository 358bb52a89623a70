"""Errors caused by an instructor, a student or an untrusted program."""


class AutogradeError(Exception):
    """Base of all errors caused by input, files, settings or a submission; the message explains what to do."""


class InputError(AutogradeError, ValueError):
    """A file, a table, a name or a setting of the instructor's that cannot be used."""


class ProtocolError(AutogradeError):
    """The other end of the channel sent invalid data."""


class ChannelClosed(AutogradeError):
    """The other end of the channel is gone."""


class DeadlinePassed(AutogradeError):
    """Nothing complete came through the channel in time."""


class SandboxError(AutogradeError):
    """No sandbox could be made here; the message explains what is missing and how to get it."""


class SandboxEnded(AutogradeError):
    """A sandbox was asked for something after it had ended; `reason` says how it ended."""

    def __init__(self, reason):
        super().__init__(str(reason))
        self.reason = reason
