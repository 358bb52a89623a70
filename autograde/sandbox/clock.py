"""The grader's clock: monotonic time without the pauses of the grader itself.

A suspended laptop, or SIGSTOP, stops the grader while deadlines go on: an answer that came at once would be called
late. So a thread looks at the clock several times a second. A longer time between two looks was a pause.
"""

import threading
import time

_BEAT = 0.1  # seconds between two looks
_PAUSE = 1.0  # a longer time between two looks is a pause
_lock = threading.Lock()
_last = time.monotonic()
_paused = 0.0
_thread: threading.Thread | None = None


def now() -> float:
    """Seconds, from an arbitrary start. Never runs backwards."""
    global _thread, _last, _paused
    with _lock:
        time_now = time.monotonic()
        if _thread is None:  # nobody has looked so far, and no pause can be told from that
            _thread = threading.Thread(target=_beat, daemon=True, name="clock")
            _thread.start()
        elif time_now - _last > _PAUSE:
            _paused += time_now - _last - _BEAT
        _last = time_now
        return time_now - _paused


def _beat() -> None:
    while True:
        time.sleep(_BEAT)
        now()
