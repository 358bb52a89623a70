"""No word and no number of a sandbox reaches a page, a record or the gradebook.

Each notebook of tests/hostile/notebooks is graded as `autograde grade` does it, then every file that the grader wrote
is searched for the canary word and for the number that its programs put into all that a sandbox can send.
"""

import json
import re
from pathlib import Path

import pytest
from grade_class import LAYER, answer, hand_in, opened, released_course, result_of, solved

from autograde.exercises.cells import stub_cell
from autograde.grader.grading.grade import grade
from autograde.grader.grading.results import Result
from autograde.grader.pages.feedback import feedback_page
from autograde.grader.pages.report import report_page

NOTEBOOKS = Path(__file__).parents[3] / "hostile/notebooks"
WORD, NUMBER, NAMED = b"CANARY", b"987654", rb"secret_\d"


def sections(path: Path) -> dict[str, str]:
    """The attack's cells by exercise; "setup" is put in front of the first."""
    _, *parts = re.split(r"^# %% (.*)\n", path.read_text(encoding="utf-8"), flags=re.M)
    return dict(zip(parts[::2], parts[1::2]))


def hostile_notebook(path: Path) -> str:
    """The solution with the attack's cells. The layer, which takes long, is not attempted unless it is one of them."""
    cells = sections(path)
    first = next(name for name in cells if name != "setup")
    return solved({LAYER: stub_cell(answer(LAYER))} | cells | {first: cells["setup"] + cells[first]})


@pytest.fixture(scope="module")
def course(tmp_path_factory, launcher):
    course = released_course(tmp_path_factory.mktemp("course"))
    for path in NOTEBOOKS.glob("*.py"):
        hand_in(course, path.stem, hostile_notebook(path))
    report = grade(opened(course), launcher)
    return course, dict(report.failures)


def written(course: Path, result: Result) -> dict[str, bytes]:
    """All that the grader has written about a student, without the student's own cells."""
    shown = course / "autograded" / result.student / result.assignment / f"{result.notebook}.ipynb"
    content = json.loads(shown.read_text())
    outputs = [output for cell in content["cells"] for output in cell.get("outputs", ())]
    texts = {
        "record": result.to_json(),
        "feedback": feedback_page(result),
        "report": report_page([result], result.assignment),
        "formgrader": json.dumps(outputs),
    }
    return {name: text.encode() for name, text in texts.items()} | {"gradebook": (course / "gradebook.db").read_bytes()}


@pytest.mark.slow
@pytest.mark.parametrize("student", sorted(path.stem for path in NOTEBOOKS.glob("*.py")))
def test_no_word_or_number_of_a_sandbox_is_written_down(course, student):
    course, failures = course
    assert student not in failures
    for name, content in written(course, result_of(course, student)).items():
        for found in (re.search(pattern + b".{0,60}", content) for pattern in (WORD, NUMBER, NAMED)):
            assert not found, f"{name}: {found[0]}"
    assert "exit code" not in result_of(course, student).to_json()
