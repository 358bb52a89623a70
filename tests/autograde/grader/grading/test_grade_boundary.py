"""No word and no number of a sandbox reaches a page, a record or the gradebook.

Each notebook of tests/hostile/notebooks is graded as `autograde grade` does it, then every file that the grader wrote
is searched for the canary word and for the number that its programs put into all that a sandbox can send.
"""

import json
import re
from pathlib import Path

import pytest
from grade_class import LAYER, answer, hand_in, opened, released_course, result_of, solved
from test_grade_runs import NAME as RUNS_NAME
from test_grade_runs import NOTEBOOK as RUNS_NOTEBOOK
from test_grade_runs import RUN, _hand_in, _untrained

from autograde.exercises import catalogue
from autograde.exercises.cells import stub_cell
from autograde.grader.book.course import make_course
from autograde.grader.grading.grade import grade, open_assignment
from autograde.grader.grading.results import Result
from autograde.grader.pages.feedback import feedback_page
from autograde.grader.pages.report import report_page
from autograde.release import editions
from autograde.release.assignment import write_assignment

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


# --- the sandbox that judges a training run ---

LEAKS = sections(NOTEBOOKS.parent / "training_run.py")
SETUP = LEAKS.pop("setup")
LAST = catalogue.of_notebook(RUNS_NOTEBOOK)[-1].id


@pytest.fixture(scope="module")
def graded_runs(tmp_path_factory, launcher):
    course = tmp_path_factory.mktemp("course")
    make_course(course)
    write_assignment(course, RUNS_NAME, [editions.make(RUNS_NOTEBOOK)])
    for student, leak in LEAKS.items():
        cell = "\n".join((answer(LAST), SETUP, leak, "with_leak(leak)"))
        _hand_in(course, student, solved({LAST: cell}, notebook=RUNS_NOTEBOOK), _untrained())
    report = grade(open_assignment(course, RUNS_NAME), launcher)
    return course, dict(report.failures)


@pytest.mark.exhaustive
@pytest.mark.parametrize("student", LEAKS)
def test_nothing_of_the_hidden_rows_is_written_down(graded_runs, student):
    course, failures = graded_runs
    assert student not in failures
    result = Result.load(Result(RUNS_NAME, student, RUNS_NOTEBOOK).path(course))
    run = next(verdict for verdict in result.verdicts if verdict.exercise == RUN.id)
    assert run.points <= 2  # untrained weights have loss 8.3; a leak may choose another
    files = [path for path in (course / "results").rglob("*") if path.is_file()]
    texts = written(course, result) | {str(path): path.read_bytes() for path in files}
    for name, text in texts.items():
        for pattern in (WORD, NUMBER, NAMED, rb"exit code"):
            found = re.search(pattern + b".{0,60}", text)
            assert not found, f"{name}: {found[0]}"


@pytest.mark.exhaustive
def test_only_one_leak_changes_what_is_reported_of_the_loss(graded_runs):
    """A program chooses its logits, and with them one digit of a loss up to 10: the words show no more."""
    course, _ = graded_runs
    for student in LEAKS:
        result = Result.load(Result(RUNS_NAME, student, RUNS_NOTEBOOK).path(course))
        (run,) = (verdict for verdict in result.verdicts if verdict.exercise == RUN.id)
        shown = r"loss (\d\.\d|10\.0|more than 10), accuracy \d+% at masked positions of hidden text"
        assert all(re.fullmatch(shown, text) for _, text in run.facts)
