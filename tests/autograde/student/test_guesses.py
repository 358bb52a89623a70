"""A guess beside the result."""

import pytest

from autograde.student import show_guess


@pytest.mark.parametrize("guess", ["", "  "])
def test_an_empty_guess_shows_nothing(guess, capsys):
    show_guess(guess, 0.5, what="spread")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("guess", "measured", "line"),
    [("0.5", 0.08342, "your guess: 0.5   measured: 0.0834"), (3, 3, "your guess: 3   measured: 3"),
     (" were ", "was", "your guess: were   measured: was")],
)  # fmt: skip
def test_a_guess_is_shown_beside_what_was_measured(guess, measured, line, capsys):
    show_guess(guess, measured)
    show_guess(guess, measured, what="spread")
    assert capsys.readouterr().out == f"{line}\nspread: {line}\n"
