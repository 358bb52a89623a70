"""A student's code that does not come back is stopped by `check`, and the message says so."""

import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from autograde.student import patience
from autograde.student.checking import check

NO_ALARM = not hasattr(signal, "setitimer")


@pytest.mark.skipif(NO_ALARM, reason="this system has no alarm")
def test_a_loop_that_never_ends_is_stopped_and_named(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(patience.limited, "__defaults__", (0.5, 0.05))

    def concat_heads(heads):
        while True:
            heads = list(heads)

    shown = str(check(concat_heads).verdict)
    assert "TimeoutError" in shown and "does a loop never end?" in shown
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.skipif(NO_ALARM, reason="this system has no alarm")
def test_who_was_late_once_gets_little_time_afterwards():
    def never(question):
        while True:
            question += 1

    ask = patience.limited(never, seconds=0.2, afterwards=0.01)
    for seconds in ("0.2", "0.01"):
        with pytest.raises(TimeoutError, match=f"after {seconds} seconds"):
            ask(0)


def test_an_answer_in_time_passes_through_on_the_main_thread_and_on_others():
    ask = patience.limited(lambda question: question + 1, seconds=5)
    with ThreadPoolExecutor(1) as other:
        assert (ask(1), other.submit(ask, 2).result()) == (2, 3)
