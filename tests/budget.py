"""The time of a test run, by file and by exercise, and its budget. Pytest prints both at the end of the run."""

import time
from collections import Counter

SECONDS_OF_AN_EXERCISE = 2.0  # of all tests of one exercise together
SLOWEST = 8


def note_exercise(item) -> None:
    """Makes the report of a test that is given an exercise say which."""
    exercise = getattr(item, "callspec", None) and item.callspec.params.get("exercise")
    if exercise is not None:
        item.user_properties.append(("exercise", getattr(exercise, "id", str(exercise))))


class Budget:
    """Adds up the seconds that the processes of the tests report. seconds: what the run may take; None: no limit."""

    def __init__(self, seconds: float | None):
        self.seconds, self.begin = seconds, time.monotonic()
        self.files, self.exercises = Counter(), Counter()

    def pytest_runtest_logreport(self, report):
        self.files[report.nodeid.partition("::")[0]] += report.duration
        for name, value in report.user_properties:
            if name == "exercise":
                self.exercises[value] += report.duration

    def pytest_terminal_summary(self, terminalreporter):
        terminalreporter.section("time")
        for line in self.lines(time.monotonic() - self.begin):
            terminalreporter.line(line)

    def lines(self, elapsed: float) -> list[str]:
        allowed = "" if self.seconds is None else f" of a budget of {self.seconds:.0f} s"
        slowest = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in self.files.most_common(SLOWEST))
        lines = [f"{elapsed:.0f} s{allowed}; slowest files: {slowest}"]
        if self.exercises:
            mean = self.exercises.total() / len(self.exercises)
            slowest = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in self.exercises.most_common(SLOWEST))
            lines.append(
                f"{mean:.1f} s for an exercise of a budget of {SECONDS_OF_AN_EXERCISE:.0f} s; slowest: {slowest}"
            )
        return lines
