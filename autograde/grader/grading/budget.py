"""The time that one submission may take: over all its sandboxes, all passes through it and its earlier notebooks.

    budget = Budget(wall_seconds=300, cpu_seconds=300)
    with budget.sandbox(launcher, limits) as sandbox:      # may run no longer than what is left
        …
    budget.spent_on                                        # None, or the limit that was used up

Time is read from a clock without the grader's own pauses (see sandbox/watch.py). Time in which a program waited for a
processor that others used does not count: how busy the machine is must not decide a grade.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from autograde.sandbox import watch
from autograde.sandbox.client import Sandbox
from autograde.sandbox.limits import Limits

MAX_SANDBOXES = 16  # for one pass through one notebook: a program that ends again and again
MAX_NOTEBOOKS = 2  # that time is given for, however many a submission has: an honest one takes seconds
_TOO_SHORT = 0.5  # seconds: less than this is not worth a start


class BudgetSpent(Exception):
    """Nothing is left for another sandbox."""


class Budget:
    """The time that is left for one submission, and the sandboxes for one pass. Used by one thread.

    Time is shared: `part` gives some of it away. The number of sandboxes is not, so that a notebook has the same
    starts, and by them the same grade, whether it is graded alone, among others or for a later one.
    """

    def __init__(self, wall_seconds: float, cpu_seconds: float):
        self.wall_seconds, self.cpu_seconds = wall_seconds, cpu_seconds
        self.wall = self.cpu = 0.0  # seconds used so far
        self.started = 0  # sandboxes

    @classmethod
    def of(cls, limits: Limits, notebooks: int = 1) -> "Budget":
        """The budget of a submission of so many notebooks: the limits of one sandbox, twice as much for several."""
        times = min(notebooks, MAX_NOTEBOOKS)
        return cls(limits.wall_seconds * times, limits.cpu_seconds * times)

    def part(self, share: float) -> "Budget":
        """A budget of this share of the time that is left; `take` what it has used when it is done."""
        return Budget((self.wall_seconds - self.wall) * share, (self.cpu_seconds - self.cpu) * share)

    def take(self, other: "Budget") -> None:
        """Counts the time that a part has used."""
        self.wall, self.cpu = self.wall + other.wall, self.cpu + other.cpu

    @property
    def spent_on(self) -> str | None:
        """The limit that was used up, as the end of "it used up …"; None while something is left."""
        if self.wall_seconds - self.wall < _TOO_SHORT:
            return f"the {self.wall_seconds:.0f} seconds that its submission may take"
        if self.cpu_seconds - self.cpu < _TOO_SHORT:
            return f"the {self.cpu_seconds:.0f} seconds of computing that its submission may take"
        if self.started >= MAX_SANDBOXES:
            return f"the {MAX_SANDBOXES} starts of a program that ended each time"
        return None

    @contextmanager
    def sandbox(self, launcher, limits: Limits) -> Iterator[Sandbox]:
        """A sandbox that lives no longer than what is left. Raises BudgetSpent, SandboxError."""
        if self.spent_on:
            raise BudgetSpent
        began, self.started = watch.now(), self.started + 1
        wall, cpu = self.wall_seconds - self.wall, self.cpu_seconds - self.cpu
        limits = replace(
            limits, wall_seconds=min(limits.wall_seconds, wall), cpu_seconds=min(limits.cpu_seconds, max(cpu, 1.0))
        )
        sandbox = launcher.start(limits, seed=0)
        try:
            yield sandbox
        finally:
            used = sandbox.usage()
            sandbox.close()
            self.wall += max(0.0, watch.now() - began - used["waited_seconds"])
            self.cpu += used["cpu_seconds"]

    @contextmanager
    def thinking(self) -> Iterator[None]:
        """Counts what the grader itself computes for the submission meanwhile, in this thread."""
        began = time.thread_time()
        try:
            yield
        finally:
            used = time.thread_time() - began
            self.wall, self.cpu = self.wall + used, self.cpu + used
