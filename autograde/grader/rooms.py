"""The sandbox of one grader process, opened when the first room is wanted and again if it is lost."""

import threading
from collections.abc import Callable

from autograde.errors import AutogradeError, SandboxError
from autograde.sandbox.client import Room
from autograde.sandbox.limits import Limits
from autograde.sandbox.sandboxes import Sandbox, open_sandbox


class RoomsClosed(AutogradeError):
    """The grading was stopped."""


class Rooms:
    """Makes rooms for several threads. `with Rooms() as rooms: rooms.room(limits)`; close() ends all that is open."""

    def __init__(self, open_one: Callable[[], Sandbox] = open_sandbox):
        self._open_one, self._lock = open_one, threading.Lock()
        self._sandbox: Sandbox | None = None
        self._closed = False

    def __enter__(self) -> "Rooms":
        return self

    def __exit__(self, *error):
        self.close()

    def open(self) -> Sandbox:
        """The sandbox; opened in the calling thread, because a zygote ends with the thread that started it.

        Raises SandboxError where no sandbox works.
        """
        with self._lock:
            if self._closed:
                raise RoomsClosed("the grading was stopped")
            self._sandbox = self._sandbox or self._open_one()
            return self._sandbox

    def room(self, limits: Limits, seed: int | None = None) -> Room:
        """A fresh room; one more try in a new sandbox where the old one was lost. Raises SandboxError."""
        sandbox = self.open()
        try:
            return sandbox.room(limits, seed)
        except SandboxError:
            self._lose(sandbox)
            return self.open().room(limits, seed)

    def _lose(self, sandbox: Sandbox) -> None:
        with self._lock:
            if self._sandbox is sandbox:
                self._sandbox = None
                sandbox.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._sandbox:
                self._sandbox.close()
                self._sandbox = None
