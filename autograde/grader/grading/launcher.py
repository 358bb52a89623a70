"""The launcher of one grader process: opened when the first sandbox is wanted, and again if it is lost."""

import threading
from collections.abc import Callable

from autograde.common.errors import AutogradeError, SandboxError
from autograde.sandbox.client import Sandbox
from autograde.sandbox.launchers import Launcher, open_launcher
from autograde.sandbox.limits import Limits


class SharedLauncher:
    """Starts sandboxes for several threads: `with SharedLauncher() as launcher: launcher.start(limits)`."""

    def __init__(self, open_one: Callable[[], Launcher] = open_launcher):
        self._open_one, self._lock = open_one, threading.Lock()
        self._launcher: Launcher | None = None
        self._closed = False

    def __enter__(self) -> "SharedLauncher":
        return self

    def __exit__(self, *error):
        self.close()

    def open(self) -> Launcher:
        """The launcher; opened in the calling thread, because a zygote ends with the thread that started it.

        Raises SandboxError where no sandbox works.
        """
        with self._lock:
            if self._closed:
                raise AutogradeError("the grading was stopped")
            self._launcher = self._launcher or self._open_one()
            return self._launcher

    def start(self, limits: Limits, seed: int | None = None) -> Sandbox:
        """A fresh sandbox; one more try with a new launcher where the old one was lost. Raises SandboxError."""
        launcher = self.open()
        try:
            return launcher.start(limits, seed)
        except SandboxError:
            with self._lock:
                if self._launcher is launcher:
                    self._launcher = None
                    launcher.close()
            return self.open().start(limits, seed)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._launcher:
                self._launcher.close()
                self._launcher = None
