"""The student's own package: imported where it is there, filled in where it is not."""

import importlib

import pytest
from autograde_case import visible_plan

from autograde.boundary import mybert_importer
from autograde.exercises import catalogue, kept_layers
from autograde.judging.judge import judge


@pytest.fixture
def said(tmp_path):
    lines = []
    with mybert_importer.only_stand_ins():
        mybert_importer.activate(tmp_path, lines.append)
        yield lines


def _write(tmp_path, text):
    (tmp_path / "mybert").mkdir()
    (tmp_path / "mybert" / "attention.py").write_text(text)


def test_an_answer_that_is_there_is_the_students_own(tmp_path, said):
    _write(tmp_path, "def softmax_rows(a):\n    return 'mine'\n")
    from mybert.attention import softmax_rows

    assert softmax_rows(None) == "mine" and said == []


def test_a_missing_answer_is_filled_in_and_one_line_names_it(tmp_path, said):
    _write(tmp_path, "def softmax_rows(a):\n    return 'mine'\n")
    from mybert.attention import causal_mask

    assert causal_mask(3).shape == (3, 3)
    assert len(said) == 1 and "mybert.attention.causal_mask: you have not passed this exercise yet" in said[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("softmax_rows = undefined\n", "NameError: name 'undefined' is not defined"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_a_module_that_cannot_run_is_replaced_and_one_line_names_the_reason(tmp_path, said, text, reason):
    _write(tmp_path, text)
    from mybert.attention import attention_scores, softmax_rows

    assert attention_scores.__module__ == softmax_rows.__module__ == "autograde.student.stand_ins.attention"
    assert said[0].startswith(f"mybert/attention.py cannot be imported ({reason})")


def test_a_name_that_no_notebook_builds_is_an_import_error(said):
    with pytest.raises(ImportError):
        from mybert.attention import no_such_thing  # noqa: F401
    with pytest.raises(ImportError):
        import mybert.no_such_module  # noqa: F401


def test_afterwards_mybert_is_what_it_was(tmp_path, said):
    _write(tmp_path, "mine = 1\n")
    import mybert.attention as before

    with mybert_importer.only_stand_ins():
        from mybert import attention

        assert not hasattr(attention, "mine")
    import mybert.attention as after

    assert after is before and after.mine == 1


# The library's head has the output bias of the published models, which the algorithm of exercise 5.1 does not have.
OTHERWISE_IN_THE_LIBRARY = {("final-layers", "weights")}


@pytest.mark.slow
@pytest.mark.parametrize("module", sorted({exercise.kept_in for exercise in catalogue.EXERCISES} - {""}))
def test_stand_ins_would_pass_the_checks_but_for_what_the_exercises_forbid(module):
    with mybert_importer.only_stand_ins():
        pieces = vars(importlib.import_module(f"autograde.student.stand_ins.{module}"))
    exercises = [exercise for exercise in catalogue.EXERCISES if exercise.kept_in == module]
    exercises = [exercise for exercise in exercises if exercise.names[0] in pieces]
    for exercise in exercises:
        verdict = judge(_without_what_is_forbidden(visible_plan(exercise.id)), kept_by(pieces), "")
        assert verdict.passed, str(verdict)
    assert exercises


def _without_what_is_forbidden(plan):
    """The visible plan of a check that forbids nothing, without the parts that the library does otherwise."""
    identity = plan["exercise"]["id"]
    parts = [part for part in plan["parts"] if (identity, part["name"]) not in OTHERWISE_IN_THE_LIBRARY]
    questions = [{key: value for key, value in question.items() if key != "watch"} for question in plan["questions"]]
    return plan | {"watch": [], "parts": parts, "questions": questions}


def kept_by(pieces):
    """The `ask` of these pieces; layers of one configuration and shape are constructed once."""
    kept = {}
    return lambda questions: kept_layers.answers(questions, pieces, kept)
