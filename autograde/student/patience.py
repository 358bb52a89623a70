"""A student's code gets a minute to answer: a loop that never ends must not hang the notebook without a word.

The clock is the system's alarm, which only Unix has and only the main thread may set; elsewhere there is no limit, and
*Interrupt the kernel* does the same. A call into TensorFlow is not cut short: the alarm rings when it returns.
"""

import contextlib
import signal
import threading
from collections.abc import Callable

SECONDS = 60  # the first call of a layer may take long on a busy machine
SECONDS_AFTERWARDS = 2  # whoever did not come back once need not be waited for again


def limited(ask: Callable, seconds: float = SECONDS, afterwards: float = SECONDS_AFTERWARDS) -> Callable:
    """The same function of a question; inside it a TimeoutError is raised when its time is over."""
    late = []

    def patient(question):
        with _alarm(afterwards if late else seconds, late):
            return ask(question)

    return patient


@contextlib.contextmanager
def _alarm(seconds: float, late: list):
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(number, frame):
        late.append(seconds)
        raise TimeoutError(f"there was no answer after {seconds:g} seconds: does a loop never end?")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
