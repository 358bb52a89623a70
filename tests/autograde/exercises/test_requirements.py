"""Each sentence that a student reads in an exercise is tested by a part, or demands nothing: solutions/requirements."""

import dataclasses

import pytest

from autograde.exercises import catalogue, gaps, notebooks, requirements
from autograde.exercises.spec import Exercise
from scripts import requirements as command

NOTEBOOKS = sorted({exercise.notebook for exercise in catalogue.EXERCISES})

COURSE = '''# %% [markdown]
# # 09 · A course
#
# ## 9.1 Twice · 2 points · ~5 minutes
#
# Double the number (Devlin et al. 2019, section 3). A text, such as "J. R. R. Tolkien", is doubled too:
#
# $$y = 2 x$$
#
# 1. **Numbers** are doubled.
#    An array is one. 2. is not a list.
#
# | x | y |
# |---|---|
# | 1 | 2 |

# %% nbgrader={"grade_id": "twice", "solution": true}
class Twice:
    """Doubles.

    x: a number    y: another
    returns the double. It is never negative
    """

    def __init__(self, rate: float = 0.1, **kwargs):
        ### BEGIN SOLUTION
        """Not read: a part of the answer."""
        ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-twice", "points": 2}
check(Twice)
'''


def problems_of(exercise: Exercise, table: dict[str, str | list[str]]) -> list[str]:
    """Why the table of one exercise is not complete, as sentences."""
    parts, sentences, named = {part.name for part in exercise.parts}, requirements.sentences_of(exercise), set()
    problems = [f"no entry for the sentence {text!r}" for text in sentences if text not in table]
    for text, entry in table.items():
        given = set(requirements.names_in(entry))
        named |= given
        if text not in sentences:
            problems.append(f"no such sentence any more: {text!r}")
        if not given:
            problems.append(f"expected the part that tests {text!r}, or {requirements.EXPLAINS!r}; got an empty entry")
        elif given != {requirements.EXPLAINS} and not given <= parts:
            problems.append(f"no such parts: {entry!r}")
    return problems + [f"no sentence asks for the part {name!r}" for name in sorted(parts - named)]


@pytest.fixture
def exercise(tmp_path, monkeypatch):
    """An exercise of a notebook of its own, whose table is in a folder of the test's."""
    (tmp_path / "09_course.py").write_text(COURSE, encoding="utf-8")
    monkeypatch.setattr(notebooks, "SOLUTIONS", tmp_path)
    scores = catalogue.find("scores")
    exercise = dataclasses.replace(scores, id="twice", notebook="09_course", number="9.1", parts=scores.parts[:1])
    monkeypatch.setattr(catalogue, "EXERCISES", (exercise,))
    return exercise


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_each_sentence_names_the_part_that_tests_it(notebook):
    table = requirements.table_of(notebook)
    assert list(table) == [exercise.id for exercise in catalogue.of_notebook(notebook)]
    begun = [one for one in catalogue.of_notebook(notebook) if any(map(requirements.names_in, table[one.id].values()))]
    problems = {exercise.id: problems_of(exercise, table[exercise.id]) for exercise in begun}
    assert not {name: sentences for name, sentences in problems.items() if sentences}


def test_text_lists_formulas_tables_docstrings_and_parameters_become_sentences(exercise):
    assert requirements.sentences_of(exercise) == [
        "Double the number (Devlin et al. 2019, section 3).", 'A text, such as "J. R. R. Tolkien", is doubled too:',
        "$$y = 2 x$$", "1. **Numbers** are doubled.", "An array is one. 2. is not a list.", "| x | y |", "| 1 | 2 |",
        "Doubles.", "x: a number", "y: another", "returns the double.", "It is never negative", "__init__(…, rate=0.1)",
        "__init__(…, **kwargs)",
    ]  # fmt: skip


def test_the_command_adds_what_is_missing_keeps_what_is_filled_in_and_removes_what_is_gone(exercise, tmp_path, capsys):
    assert command.main([]) == 1
    table = tmp_path / "requirements/09_course.toml"
    text = table.read_text(encoding="utf-8")
    assert text.count(' = ""\n') == 14 and "twice: y: another" in capsys.readouterr().out
    (part,) = exercise.parts
    filled = text.replace(' = ""\n', f' = "{part.name}"\n').replace('"Doubles."', '"Gone."')
    table.write_text(filled, encoding="utf-8")
    assert command.main(["09_course"]) == 1
    again = table.read_text(encoding="utf-8")
    assert '"Doubles." = ""' in again and "Gone." not in again and again.count(f' = "{part.name}"\n') == 13


def test_a_table_with_a_hole_a_stale_sentence_an_unknown_part_or_an_untested_part_is_refused(exercise):
    (part,) = exercise.parts
    whole = dict.fromkeys(requirements.sentences_of(exercise), "explains") | {"Doubles.": [part.name]}
    assert problems_of(exercise, whole) == []
    for change, problem in (
        ({"y: another": ""}, "got an empty entry"),
        ({"y: another": []}, "got an empty entry"),
        ({"Gone.": "explains"}, "no such sentence any more"),
        ({"y: another": "colours"}, "no such parts"),
        ({"Doubles.": "explains"}, f"no sentence asks for the part {part.name!r}"),
    ):
        (found,) = problems_of(exercise, whole | change)
        assert problem in found
    del whole["$$y = 2 x$$"]
    assert "no entry for the sentence" in problems_of(exercise, whole)[0]


def test_a_table_is_written_for_notebooks_with_exercises_alone(exercise, capsys):
    with pytest.raises(SystemExit):
        command.main(["09_cours"])
    assert "09_cours: expected a notebook with exercises, one of " in capsys.readouterr().err
    assert not notebooks.path_beside("requirements", "09_cours").exists()


def test_try_names_an_entry_for_a_part_that_does_not_exist(monkeypatch):
    exercise = catalogue.find("scores")
    table = {exercise.id: {"Doubles.": "valeus", "Halves.": "explains"}}
    monkeypatch.setattr(requirements, "table_of", lambda notebook: table)
    (found,) = requirements.unknown_parts(exercise)
    assert found.endswith("for 'Doubles.', got 'valeus'") and found in gaps.of_exercise(exercise)
