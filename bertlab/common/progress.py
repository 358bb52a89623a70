"""Progress bars with an estimate of the remaining time, drawn only on a terminal; elsewhere lines on request."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Item = TypeVar("Item")
SECONDS_BETWEEN_LINES = 10


def _columns():
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    return (
        TextColumn("{task.description:<28}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )


class Bar:
    """One running bar; `advance` moves it, `note` is a short text at its right end."""

    def __init__(self, bars, task):
        self._bars, self._task = bars, task

    def advance(self, steps: float = 1, note: str | None = None) -> None:
        fields = {} if note is None else {"note": note}
        self._bars.update(self._task, advance=steps, **fields)

    def set_total(self, total: int) -> None:
        self._bars.update(self._task, total=total)


def _console():
    from rich.console import Console

    return Console(stderr=True)


def bars_are_shown() -> bool:
    """Whether bars are drawn: on a terminal only."""
    return _console().is_terminal


@contextmanager
def bar(description: str, total: int | None = None, start: int = 0) -> Iterator[Bar]:
    """A progress bar for work that is not a plain loop: ``with bar("Reading", total=10) as b: b.advance()``."""
    from rich.progress import Progress

    with Progress(*_columns(), console=_console(), disable=not bars_are_shown()) as bars:
        yield Bar(bars, bars.add_task(description, total=total, completed=start, note=""))


def track(items: Iterable[Item], description: str, total: int | None = None, lines: bool = False) -> Iterator[Item]:
    """Yields the items of an iterable under a progress bar. total: their number, if it has no `len`.

    lines: where no bar is drawn, print a line every ten seconds instead.
    """
    if total is None and hasattr(items, "__len__"):
        total = len(items)
    if lines and total and not bars_are_shown():
        yield from _in_lines(items, description, total)
        return
    with bar(description, total) as running:
        for item in items:
            yield item
            running.advance()


def _in_lines(items: Iterable[Item], description: str, total: int) -> Iterator[Item]:
    began = said = measured = time.monotonic()
    for done, item in enumerate(items, start=1):
        yield item
        now = time.monotonic()
        measured = now if done == 1 else measured  # the first item is also compiled: the estimate leaves it out
        if done == total:
            _print(f"{description}: {done} of {total}, {duration(now - began)}")
        elif now - said >= SECONDS_BETWEEN_LINES:
            left = f", about {duration((now - measured) / (done - 1) * (total - done))} left" if done > 1 else ""
            said = now
            _print(f"{description}: {done} of {total}{left}")


def _print(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def duration(seconds: float) -> str:
    """Seconds in words.

    Example:
        >>> duration(3725)
        '1 h 2 min'
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
