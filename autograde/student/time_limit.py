"""A time limit for checks: stops a student's endless loop after some seconds and finds its line.

An alarm signal raises `TimeLimitExceeded` in the running code, in the main thread of Linux and macOS, where a
notebook's cells run. It is not an `Exception`, so that a student's `except Exception` does not catch it. After a bare
`except:` the signal comes again, and then the line below the `except:` raises the exception, too. Where there is no
such signal (Windows, other threads), or where it has no effect (one long operation of a library), it prints how to stop
the cell by hand.
"""

import ast
import contextlib
import linecache
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from autograde.boundary import call_answer, tracing
from autograde.judging.advice import TOO_LONG

SECONDS = 20.0  # for one call; the slowest right answer of the course takes 0.6 on one processor
_REPEAT_SECONDS = 1.0  # seconds between two alarms
_GRACE = 5.0  # seconds after the alarm until the message how to stop the cell
PATIENCE = 3.0  # seconds of a check before the first line about it
_HOW_TO_STOP = "The ■ button stops the cell; if it does not, restart the kernel."
_LOOPS = (ast.While, ast.For)
_LIBRARIES = (sys.prefix, sys.base_prefix, str(Path(__file__).parents[1]))  # all code that is not the student's


class TimeLimitExceeded(BaseException):
    """A student's code ran for too long."""


def answer_in_time(questions: list[dict], space: dict, seconds: float = SECONDS) -> list[dict]:
    """The answers to a plan's questions (see `probe`), each within its seconds.

    After the first one that takes too long no more questions are asked: it and the remaining ones get a TimeoutError
    with the line that was running. Nor are they after one for which the memory is too small: TensorFlow tries for ten
    seconds to get it. A line shows the progress of a slow check.
    """
    answers = []
    for question in counted(questions):
        try:
            with limit(seconds):
                answers += call_answer.answer([question], space)
        except TimeLimitExceeded as raised:
            late = _timeout_answer(raised, space, question, seconds)
            return answers + [late] * (len(questions) - len(answers))
        if _is_out_of_memory(answers[-1]):
            return answers + [answers[-1]] * (len(questions) - len(answers))
    return answers


def _is_out_of_memory(answer: dict) -> bool:
    """Also where the alarm rang while TensorFlow made its error: pybind11 then raises a RuntimeError about both."""
    error = answer["error"] or {}
    interrupted = "TimeLimitExceeded" in error.get("message", "")
    if interrupted:
        error |= {"type": "MemoryError", "base": "MemoryError", "message": "the computer has not enough memory"}
    return interrupted or error.get("type") in call_answer.OUT_OF_MEMORY


def _timeout_answer(raised: TimeLimitExceeded, space: dict, question: dict, seconds: float) -> dict:
    """The answer of code that was stopped: its line and its loop, ", in the loop that begins in line 4: `while i:`".

    A `while` is more often endless than a `for`.
    """
    frames = tracing.student_frames(raised, space, question)  # (frame, line), the outermost first
    loops = [loop for frame, line in reversed(frames) for loop in _loops_around(frame, line)]
    loop = next((loop for loop in loops if isinstance(loop[0], ast.While)), loops[0] if loops else None)
    where = f", in the loop that begins in line {loop[0].lineno}: `{loop[1]}`" if loop else ""
    error = {"type": "TimeoutError", "message": f"{TOO_LONG} {seconds:g} s{where}"}
    error = tracing.describe_error(raised, space, question) | error
    return {"status": "raised", "value": None, "notes": {}, "error": error}


def _loops_around(frame, line: int) -> list[tuple]:
    """The loops around a line that is running, the innermost first: each with the text of its first line."""
    lines = linecache.getlines(frame.f_code.co_filename, frame.f_globals)
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return []
    around = [node for node in ast.walk(tree) if isinstance(node, _LOOPS) and node.lineno <= line <= node.end_lineno]
    return [(loop, lines[loop.lineno - 1].strip()) for loop in sorted(around, key=lambda loop: -loop.lineno)]


# --- the alarm ---


@contextlib.contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raises TimeLimitExceeded in the code inside once the seconds are over, where that is possible."""
    can_ring = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    said = f"Your code has been running for more than {seconds:g} s; is there an endless loop? {_HOW_TO_STOP}"
    waits = seconds + (_GRACE if can_ring else 0)
    line = threading.Timer(waits, print, [said], {"file": sys.stdout, "flush": True})
    line.daemon = True
    line.start()
    try:
        with _alarm(seconds) if can_ring else contextlib.nullcontext():
            yield
    finally:
        line.cancel()


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    rung, tracer = [], sys.gettrace()

    def ring(number, frame):
        if rung:  # it was caught
            _raise_at_each_line(frame)
        rung.append(number)
        raise TimeLimitExceeded

    before = signal.signal(signal.SIGALRM, ring)

    def cancel():
        sys.settrace(tracer)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if before is None else before)

    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, _REPEAT_SECONDS)
        yield
    except TimeLimitExceeded:
        cancel()
        raise
    finally:
        try:
            cancel()
        except TimeLimitExceeded:  # the signal came at this moment; the next one comes in a second
            cancel()


def _raise_at_each_line(frame) -> None:
    """Lets the next line of the student's functions that are running raise TimeLimitExceeded: the one below `except:`.

    Python removes a trace function that raises, so not at the event "exception", which comes before the `except:`.
    """

    def trace(frame, event, argument):
        if event == "line":
            raise TimeLimitExceeded
        return trace

    sys.settrace(lambda frame, event, argument: None)  # functions called from now on are not traced
    while frame is not None and frame.f_code.co_filename != __file__:
        if not frame.f_code.co_filename.startswith(_LIBRARIES):
            frame.f_trace = trace
        frame = frame.f_back


# --- the line of a slow check ---


def counted(calls: list) -> Iterator:
    """Yields the calls of a check; before one that starts late, one line shows its number and the seconds until now."""
    out, start, text = sys.stdout, time.monotonic(), ""
    try:
        for number, call in enumerate(calls, 1):
            seconds = time.monotonic() - start
            if seconds > PATIENCE:
                text = _write(out, text, f"Checking: call {number} of {len(calls)} after {seconds:.0f} s …")
            yield call
    finally:
        if text:
            _write(out, text, f"Checked in {time.monotonic() - start:.0f} s.", end="\n")


def _write(out, before: str, text: str, end: str = "") -> str:
    print("\r" + text.ljust(len(before)), end=end, file=out, flush=True)
    return text
