"""The facts that a solution notebook states about its exercises, and what is refused, with file and line."""

import dataclasses

import jupytext
import pytest

from autograde import exercises
from autograde.exercises import catalogue, notebooks
from autograde.exercises.n03_attention import scores
from autograde.exercises.notebooks import SolutionError

COURSE = """# %% [markdown]
# # 09 · A course
#
# ## 9.1 Twice · 2 points · ~5 minutes · Attention, line 5

# %% nbgrader={"grade_id": "twice", "solution": true}
FACTOR = 2


def twice(x, *, base=1):
    ### BEGIN SOLUTION
    return FACTOR * x
    ### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "check-twice", "points": 2}
check(twice)
"""


@pytest.fixture
def facts_of(tmp_path):
    """The facts of a notebook of this text."""

    def read(text):
        path = tmp_path / "09_course.py"
        path.write_text(text, encoding="utf-8")
        return notebooks.facts_in(path)

    return read


def test_heading_metadata_and_signature_are_read(facts_of):
    (facts,) = facts_of(COURSE).values()
    assert (facts.id, facts.notebook, facts.number, facts.title) == ("twice", "09_course", "9.1", "Twice")
    assert (facts.points, facts.minutes, facts.lines) == (2, 5, "Attention, line 5")
    assert (facts.name, facts.signatures) == ("twice", {"twice": ("x",)})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (" · ~5 minutes", "", r"solutions/09_course.py line 4: expected ## 3.4 Title .* got ## 9.1 Twice · 2 points"),
        ("## 9.1", "## Nine", r"line 6: an answer without a heading; expected ## 3.4 Title"),
        ('"points": 2', '"points": 3', r"line 15: expected 2 points, as its heading in line 4 has, got 3"),
        ("check(twice)", "check(thrice)", r"line 15: expected check\(NAME\) .* line 6 defines \(twice\), got 'check"),
        ('"check-twice"', '"check-twoce"', r'line 6: expected a cell with "grade_id": "check-twice"'),
        ("return FACTOR * x", "return FACTOR *", r"line 12: invalid syntax"),
        ('"solution": true}', '"solution": true', r"line 6: expected key=JSON, like tags=\[.*got 'nbgrader="),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(facts_of, old, new, message):
    assert COURSE.count(old) == 1
    with pytest.raises(SolutionError, match=message):
        facts_of(COURSE.replace(old, new))


def test_two_answers_need_two_headings(facts_of):
    second = COURSE.partition("\n\n")[2].replace("twice", "thrice")
    with pytest.raises(SolutionError, match="line 18: an answer without a heading"):
        facts_of(f"{COURSE}\n{second}")


def test_the_cells_are_jupytexts(tmp_path):
    for path in sorted(notebooks.SOLUTIONS.glob("[0-9]*.py")):
        expected = [cell for cell in jupytext.read(path).cells if cell.cell_type == "code"]
        cells = [cell for cell in notebooks.cells_of(path.stem) if cell.is_code]
        assert [cell.source for cell in cells] == [cell.source for cell in expected]
        wanted = [{key: value for key, value in cell.metadata.items() if "lines_to" not in key} for cell in expected]
        assert [cell.metadata for cell in cells] == wanted


def test_points_that_do_not_add_up_to_the_notebooks_are_refused(monkeypatch):
    one_part = dataclasses.replace(scores.EXERCISE, parts=scores.EXERCISE.parts[:1])
    monkeypatch.setattr(scores, "EXERCISE", one_part)
    with pytest.raises(SolutionError, match=r"solutions/03_attention.py line \d+: expected the 2 points .*values 2"):
        catalogue.read_notebook("03_attention")


def test_a_module_without_its_answer_and_an_answer_without_its_module_are_refused(tmp_path, monkeypatch):
    course = tmp_path / "09_course.py"
    course.write_text(COURSE, encoding="utf-8")
    package = tmp_path / "n09_course"
    package.mkdir()
    (package / "__init__.py").write_text('KEPT_IN = ""\n')
    monkeypatch.setattr(notebooks, "SOLUTIONS", tmp_path)
    monkeypatch.setattr(exercises, "__path__", [str(tmp_path)])
    with pytest.raises(SolutionError, match=r"line 4: expected its exercise in autograde.exercises.n09_course.twice"):
        catalogue.read_notebook("09_course")
    (package / "four_times.py").write_text("EXERCISE = None\n")
    with pytest.raises(SolutionError, match=r'four_times: expected a cell with "grade_id": "four-times"'):
        catalogue.read_notebook("09_course")
