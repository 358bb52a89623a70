"""The line that shows how far a slow check has come."""

import pytest

from autograde.student import progress_line, time_limit
from autograde.student.progress_line import counted


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test moves: its list's last number is the time."""
    times = [0.0]
    monkeypatch.setattr(progress_line.time, "monotonic", lambda: times[-1])
    return times


def test_a_slow_check_shows_one_line_that_replaces_itself(clock, capsys):
    for _ in counted(["a", "b", "c"]):
        clock.append(clock[-1] + 5)
    first, second, third, last = capsys.readouterr().out.split("\r")
    assert (first, second) == ("", "Checking: call 2 of 3 after 5 s …")
    assert third == "Checking: call 3 of 3 after 10 s …"
    assert last.rstrip(" \n") == "Checked in 15 s." and len(last) > len(third)  # spaces hide the line before


def test_a_check_that_takes_a_second_shows_none(clock, capsys):
    for _ in counted(list(range(100))):
        clock.append(clock[-1] + 0.01)
    assert capsys.readouterr().out == ""


def test_the_line_ends_where_the_check_stops_early(clock, capsys):
    for call in counted(["a", "b", "c"]):
        clock.append(clock[-1] + 5)
        if call == "b":
            break
    assert capsys.readouterr().out.rstrip(" \n").endswith("\rChecked in 10 s.")


def test_a_check_counts_its_calls(monkeypatch, capsys):
    monkeypatch.setattr(progress_line, "PATIENCE", -1.0)
    question = {"probe": {"kind": "call"}, "names": ["missing"], "arguments": {}}
    monkeypatch.setattr(time_limit.call_answer, "answer", lambda questions, space: [{"status": "ok", "error": None}])
    assert len(time_limit.answer_in_time([question] * 4, {})) == 4
    assert "call 4 of 4 after 0 s" in capsys.readouterr().out
