"""One line that shows how far a slow check has come, such as that of a whole BERT."""

import sys
import time
from collections.abc import Iterator

PATIENCE = 3.0  # seconds before the first line


def counted(calls: list) -> Iterator:
    """Yields the calls of a check; before one that starts late, a line shows its number and the seconds until now.

    Each line replaces the one before, and the last one stays. Most checks end before the first line.
    """
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
