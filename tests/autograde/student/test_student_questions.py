"""Questions between the exercises: what each option shows, unknown names, that each notebook has two. And guesses."""

import pytest

from autograde.exercises import notebooks
from autograde.student.questions import all_questions, answer, options_of, show_guess

QUESTIONS = all_questions()
NOTEBOOKS = sorted({question["notebook"] for question in QUESTIONS.values()})


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_option_has_its_explanation_and_the_right_one_alone_a_tick(name):
    options = options_of(QUESTIONS[name])
    assert QUESTIONS[name]["right"] in options and len(options) >= 3
    shown = {letter: repr(answer(name, letter)) for letter in options}
    assert [letter for letter in options if "✓" in shown[letter]] == [QUESTIONS[name]["right"]]
    assert all(explanation in shown[letter] for letter, (_, explanation) in options.items())


def test_without_an_option_the_question_is_shown_and_no_explanation():
    shown = repr(answer("why-scale", ""))
    assert QUESTIONS["why-scale"]["text"] in shown and "✓" not in shown and "✗" not in shown


def test_unknown_names_and_options_get_those_that_exist():
    assert "did you mean `why-scale`" in repr(answer("why-scal", "b"))
    assert "choose one of a, b, c" in repr(answer("why-scale", "d"))
    assert repr(answer("why-scale", " B ")) == repr(answer("why-scale", "b"))


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_notebook_asks_its_own_two_questions(notebook):
    sources = [cell.source for cell in notebooks.cells_of(notebook) if cell.source.startswith("answer(")]
    own = [name for name, question in QUESTIONS.items() if question["notebook"] == notebook]
    assert sources == [f'answer("{name}", "")' for name in own] and len(own) == 2


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
