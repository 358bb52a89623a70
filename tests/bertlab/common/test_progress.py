"""Progress in a pipe: lines with the remaining time, and nothing else on standard output."""

from types import SimpleNamespace

from bertlab.common import progress


def test_a_pipe_gets_a_line_every_ten_seconds_and_one_at_the_end(monkeypatch, capsys):
    clock = iter([0.0, 4.0, 12.0, 15.0, 23.0, 75.0])  # at the start and after each item
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    assert list(progress.track("abcde", "Reading", lines=True)) == list("abcde")
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines() == [
        "Reading: 2 of 5, about 24 s left",
        "Reading: 4 of 5, about 6 s left",
        "Reading: 5 of 5, 1 min 15 s",
    ]


def test_without_being_asked_a_pipe_gets_nothing(capsys):
    assert list(progress.track([], "Reading", lines=True)) == [] and list(progress.track("ab", "Reading")) == ["a", "b"]
    assert capsys.readouterr() == ("", "")
