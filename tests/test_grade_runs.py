"""A training run through the whole grader: notebook and weights handed in, points in the record and the gradebook."""

import json

import numpy as np
import pytest

from autograde.exercises import runs
from autograde.grader import training_runs
from autograde.grader.course import make_course
from autograde.grader.grade import digest, grade, handed_in, is_up_to_date, open_assignment
from autograde.grader.report import report_page
from autograde.grader.results import Result
from autograde.release import editions
from autograde.release.assignment import write_assignment
from autograde.roles import weight_shapes
from autograde.weights_file import Weights, WeightsError

NOTEBOOK, NAME = "07_pretraining", "ps7"
(RUN,) = runs.of_notebook(NOTEBOOK)
CONFIG = {"vocab_size": 4096, "hidden_size": 8, "num_layers": 1, "num_heads": 2, "intermediate_size": 8,
          "max_positions": 32}  # fmt: skip
RIGHT = "table = self.bert.embeddings.token.embeddings"
WRONG = "table = self.bert.embeddings.position.embeddings"


def _untrained() -> bytes:
    """Weights that fit and know nothing: small numbers, LayerNorms as they begin."""
    from safetensors.numpy import save

    rng = np.random.default_rng(4)
    arrays = {
        role: np.ones(shape, "float32") if role.endswith("gamma") else 0.02 * rng.normal(size=shape).astype("float32")
        for role, shape in weight_shapes(CONFIG).items()
    }
    return save({role: array.astype("float32") for role, array in arrays.items()}, {"config": json.dumps(CONFIG)})


def _hand_in(course, student, notebook: str, weights: bytes | None):
    folder = course / "submitted" / student / NAME
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{NOTEBOOK}.ipynb").write_text(notebook)
    if weights is not None:
        (folder / RUN.file).write_bytes(weights)
    return folder


def test_new_weights_make_a_submission_new(tmp_path):
    folder = _hand_in(tmp_path, "ada", "{}", None)
    notebook = folder / f"{NOTEBOOK}.ipynb"
    without = digest(notebook)
    (folder / RUN.file).write_bytes(b"weights")
    first = digest(notebook)
    (folder / RUN.file).write_bytes(b"better ones")
    assert len({without, first, digest(notebook)}) == 3


def test_a_score_better_than_any_honest_models_is_reported_to_the_instructor_only():
    assert training_runs.doubts_about(RUN, loss=3.2, accuracy=0.42) == ()  # bertlab-mini, after hours on a GPU
    (too_low,) = training_runs.doubts_about(RUN, loss=0.4, accuracy=0.91)
    assert "loss 0.40 and accuracy 91% on hidden text are better than those of any honest model" in too_low
    assert training_runs.doubts_about(RUN, loss=2.5, accuracy=0.7)
    graded = Result(NAME, "ada", NOTEBOOK, doubts=(too_low,))
    assert Result.from_json(graded.to_json()) == graded
    page = report_page([graded], NAME)
    assert "Results to look at" in page and "loss 0.40" in page
    assert "Results to look at" not in report_page([Result(NAME, "ada", NOTEBOOK)], NAME)


def test_initial_weights_are_refused():
    """First seen to be graded, for 2 points, at 658e48f."""
    arrays = {
        role: np.full(shape, float(role.endswith("gamma")), "float32") if len(shape) == 1 else np.ones(shape, "float32")
        for role, shape in weight_shapes(CONFIG).items()
    }
    with pytest.raises(WeightsError, match="has the weights of an untrained model"):
        training_runs._check_fit(RUN, Weights(CONFIG, arrays))
    arrays["mlm/bias"][3] = 1e-6
    training_runs._check_fit(RUN, Weights(CONFIG, arrays))


@pytest.mark.exhaustive
def test_a_run_is_judged_by_the_students_own_model_or_refused_with_the_reason(tmp_path):
    from grade_class import open_shared_launcher

    made = editions.make(NOTEBOOK)
    make_course(tmp_path)
    write_assignment(tmp_path, NAME, [made])
    _hand_in(tmp_path, "ada", made.source, _untrained())
    _hand_in(tmp_path, "bob", made.source, None)
    _hand_in(tmp_path, "cyd", made.source, _untrained()[:-100])
    _hand_in(tmp_path, "dan", made.source.replace(RIGHT, WRONG), _untrained())
    assignment = open_assignment(tmp_path, NAME)
    with open_shared_launcher() as launcher:
        report = grade(assignment, launcher)
    assert (report.graded, report.failures) == (4, [])

    found = {}
    for student in ("ada", "bob", "cyd", "dan"):
        verdicts = Result.load(Result(NAME, student, NOTEBOOK).path(tmp_path)).verdicts
        found[student] = next(verdict for verdict in verdicts if verdict.exercise == RUN.id)
    assert (found["ada"].status, found["ada"].points) == ("partly", 2) and not found["ada"].notes
    assert "loss 8.3" in dict(found["ada"].facts)["metrics"]
    assert (found["bob"].status, found["bob"].points) == ("missing", 0)
    assert found["cyd"].status == "refused" and "truncated" in found["cyd"].advice[0]
    assert found["dan"].points == 2 and "the course's own PreTrainingModel" in found["dan"].notes[0]

    from autograde.grader.gradebook import Course

    with Course(tmp_path) as book:
        grades = book.book.find_submission_notebook(NOTEBOOK, NAME, "ada").grades
        assert {grade.name: grade.auto_score for grade in grades}[RUN.id] == 2
    assert all(is_up_to_date(assignment, item) for item in handed_in(assignment))
