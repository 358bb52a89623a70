"""The catalogue tested by its own mistakes: every misconception fails and is named, every other solution passes."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from autograde_case import asking, visible_plan

from autograde import planning, probe
from autograde.compare import Tolerance, compare
from autograde.exercises import catalogue, cells, notebooks
from autograde.judge import clean, fault, judge
from autograde.naming import same_outcome

ALTERNATIVES = Path(__file__).parent / "solutions_alternative"
FRESH_DRAWS = 20
FEWER_DRAWS = 6  # of whole layers and models, of which every one must be named
LARGE = ("encoder-layer", "bert", "pretraining-model", "etransformer", "bert-embeddings", "multi-head-layer", "encoder",
         "pre-norm-layer")  # fmt: skip
NOTEBOOKS = sorted({exercise.notebook for exercise in catalogue.EXERCISES})
FEW_DRAWS = ("padding-mask",)  # two draws may agree
# Their fresh draws are among the exhaustive tests.
SLOW = ("multi-head-layer", "encoder-layer", "etransformer", "bert", "pretraining-model", "train-step")

each_exercise = pytest.mark.parametrize("exercise", catalogue.EXERCISES, ids=lambda exercise: exercise.id)
each_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS)


def _mistaken(exercise, misconception):
    return cells.namespace(exercise, cells.patched_cell(exercise, misconception))


def _numeric_claims(plan):
    claims = [claim for part in plan["parts"] for claim in part["claims"] if "expected" in claim]
    return [claim for claim in claims if isinstance(claim["expected"], np.ndarray)]


def _fails_without_a_distance(plan, outcomes):
    """Whether a claim fails that holds or does not: a call to be refused, a share of zeros."""
    answers = [clean(outcome) for outcome in outcomes]
    claims = [claim for part in plan["parts"] for claim in part["claims"] if claim["kind"] in ("raises", "dropped")]
    return any(fault(claim | {"returns": "anything"}, answers) for claim in claims)


def _leaves_nothing_to_chance(exercise, plan, identity):
    """Whether a misconception's results are equal each time where chance should act; asked anew, as it is no value."""
    misconception = next(known for known in exercise.misconceptions if known.id == identity)
    answers = [clean(answer) for answer in probe.answer(plan["questions"], _mistaken(exercise, misconception))]
    claims = [claim for part in plan["parts"] for claim in part["claims"] if claim["kind"] == "varies"]
    return any(fault(claim, answers) for claim in claims)


def _excess(claim, value):
    """The largest |got − expected| in units of the tolerance; infinite for another shape, NaN or another text."""
    expected = claim["expected"]
    if value is None:
        return np.inf
    if type(expected) is not np.ndarray:
        return 0.0 if compare(expected, value, Tolerance(claim["rtol"], claim["atol"])) is None else np.inf
    if claim["kind"] == "slopes":
        value = np.array([np.sum(gradient * along) for gradient, along in zip(value, claim["directions"])], "float32")
    if type(value) is not np.ndarray or value.shape != expected.shape or value.dtype.kind != expected.dtype.kind:
        return np.inf
    tolerance = Tolerance(claim["rtol"], claim["atol"])
    allowed = tolerance.atol + tolerance.rtol * np.abs(expected.astype("float64"))
    ratio = np.abs(value.astype("float64") - expected) / allowed
    return np.inf if np.isnan(ratio).any() else float(ratio.max())


@each_exercise
def test_the_solution_earns_everything_and_its_stub_nothing(exercise):
    solution = judge(visible_plan(exercise.id), asking(cells.namespace(exercise)), cells.answer_cell(exercise))
    assert solution.passed and solution.points == exercise.points == solution.max_points, str(solution)
    stub = cells.stub_cell(cells.answer_cell(exercise))
    untouched = judge(visible_plan(exercise.id), asking(cells.namespace(exercise, stub)), stub)
    assert (untouched.status, untouched.points) == ("not attempted", 0)


@each_exercise
def test_each_misconception_fails_and_is_named(exercise):
    plan = visible_plan(exercise.id) if exercise.id in SLOW else planning.make_plan(exercise, "fresh")
    for misconception in exercise.misconceptions:
        verdict = judge(plan, asking(_mistaken(exercise, misconception)))
        assert verdict.points < exercise.points
        assert verdict.misconception == misconception.id, str(verdict)
        assert verdict.advice


@pytest.mark.exhaustive
@each_exercise
def test_each_misconception_is_named_on_at_least_95_percent_of_fresh_draws(exercise):
    mistaken = {misconception.id: _mistaken(exercise, misconception) for misconception in exercise.misconceptions}
    named = dict.fromkeys(mistaken, 0)
    draws = FEWER_DRAWS if exercise.id in LARGE else FRESH_DRAWS
    for draw in range(draws):
        plan = planning.make_plan(exercise, f"draw {draw}")
        assert judge(plan, asking(cells.namespace(exercise))).passed
        for identity, namespace in mistaken.items():
            verdict = judge(plan, asking(namespace))
            assert not verdict.passed
            named[identity] += verdict.misconception == identity
    assert min(named.values()) >= 0.95 * draws, named


@each_exercise
def test_no_two_misconceptions_answer_alike_and_none_answers_like_the_solution(exercise):
    plan = visible_plan(exercise.id)
    right = probe.answer(plan["questions"], cells.namespace(exercise))
    outcomes = {"the solution": right} | {known["id"]: known["outcomes"] for known in plan["misconceptions"]}
    for (one, left), (other, right) in itertools.combinations(outcomes.items(), 2):
        assert not all(map(same_outcome, left, right)), f"{one} and {other} give the same answers"


@each_exercise
def test_the_tolerance_lies_far_above_float32_noise_and_far_below_the_nearest_misconception(exercise):
    if not _numeric_claims(visible_plan(exercise.id)):
        return  # no number with a tolerance: compared exactly, or counted (see test_autograde_random)
    noise = []
    for draw in range(1 if exercise.id in SLOW else 3):
        plan = planning.make_plan(exercise, f"noise {draw}", misconceptions=False)
        answers = probe.answer(plan["questions"], cells.namespace(exercise))
        noise += [_excess(claim, answers[claim["answer"]]["value"]) for claim in _numeric_claims(plan)]
    assert max(noise) < 0.5
    plan = visible_plan(exercise.id)
    for known in plan["misconceptions"]:
        distance = max(_excess(claim, known["outcomes"][claim["answer"]]["value"]) for claim in _numeric_claims(plan))
        assert (
            distance > 20
            or _fails_without_a_distance(plan, known["outcomes"])
            or _leaves_nothing_to_chance(exercise, plan, known["id"])
        ), known["id"]


@each_exercise
def test_at_least_five_solutions_of_another_structure_pass(exercise):
    files = sorted((ALTERNATIVES / exercise.notebook / exercise.id).glob("*.py"))
    assert len(files) >= 5
    plan = planning.make_plan(exercise, "alternatives", misconceptions=False)
    for file in files:
        source = file.read_text(encoding="utf-8")
        verdict = judge(plan, asking(cells.namespace(exercise, source)), source)
        assert verdict.passed, f"{file.name}\n{verdict}"


@each_exercise
def test_an_exercise_says_what_a_reader_needs(exercise):
    assert len(exercise.misconceptions) >= 3 and len(exercise.hints) == 3
    assert len({known.id for known in exercise.misconceptions}) == len(exercise.misconceptions)
    assert exercise.minutes and exercise.title and len(exercise.arguments) >= 1


@each_exercise
def test_a_plan_is_the_same_for_the_same_seed_and_another_for_another(exercise):
    from autograde.values import encode

    one, again, other = (planning.make_plan(exercise, seed, misconceptions=False) for seed in ("a", "a", "b"))
    assert encode(one) == encode(again)
    if exercise.id not in FEW_DRAWS:
        assert encode(one["questions"]) != encode(other["questions"])


def test_hidden_seeds_differ_by_student_and_exercise_and_need_the_secret():
    one, two = catalogue.EXERCISES[:2]
    seeds = {
        planning.hidden_seed(secret, student, exercise)
        for secret in (b"s1", b"s2")
        for student in ("ada", "bob")
        for exercise in (one, two)
    }
    assert len(seeds) == 8


def test_a_patch_that_does_not_fit_is_an_error_that_says_so():
    import dataclasses

    exercise = catalogue.find("scores")
    wrong = dataclasses.replace(exercise.misconceptions[0], patch=(("no such text", ""),))
    with pytest.raises(notebooks.SolutionError, match="0 times"):
        cells.patched_cell(exercise, wrong)


def test_an_exercise_is_found_by_id_and_by_name():
    assert catalogue.find("scores") is catalogue.find("attention_scores")
    with pytest.raises(
        catalogue.UnknownExerciseError, match="did you mean masked-attention.*`autograde exercises` lists"
    ):
        catalogue.find("masked_atention")


def test_the_table_lists_every_exercise_and_counts():
    table = catalogue.table()
    assert all(exercise.title in table for exercise in catalogue.EXERCISES)
    points = sum(exercise.points for exercise in catalogue.EXERCISES)
    assert f"{len(catalogue.EXERCISES)} exercises, {points:g} points" in table


def test_the_worked_numbers_of_the_lecture_come_out_of_the_solutions_functions():
    from keras import ops

    from autograde.exercises.n03_attention import attention as draws

    names = cells.namespace(catalogue.find("attention"))
    x, w_q, w_k, w_v = map(
        ops.convert_to_tensor, (draws.EXAMPLE_X, draws.EXAMPLE_W_Q, draws.EXAMPLE_W_K, draws.EXAMPLE_W_V)
    )
    scaled = names["attention_scores"](x @ w_q, x @ w_k)
    unscaled = scaled * 3**0.5
    weights = names["softmax_rows"](unscaled)
    assert np.allclose(unscaled[0], [2, 4, 4], atol=1e-5)
    assert np.allclose(weights[0], [0.0634, 0.4683, 0.4683], atol=5e-5)
    assert np.allclose((weights @ (x @ w_v))[0], [1.9366, 6.6831, 1.5951], atol=5e-5)
    none = ops.zeros(3)
    assert np.allclose(names["attention"](x, w_q, none, w_k, none, w_v, none)[0], [1.8639, 6.3194, 1.7042], atol=5e-5)


@each_notebook
def test_the_notebook_states_the_points_that_the_exercises_give(notebook):
    text = (notebooks.SOLUTIONS / f"{notebook}.py").read_text(encoding="utf-8")
    for exercise in catalogue.of_notebook(notebook):
        assert f'"grade_id": "check-{exercise.id}", "locked": true, "points": {exercise.points:g},' in text
        assert f"# ## {exercise.number} " in text and f"· {exercise.points:g} points ·" in text


@pytest.mark.exhaustive
@each_notebook
def test_the_solution_notebook_runs_from_top_to_bottom_and_everything_passes(notebook, tmp_path, monkeypatch):
    import jupytext
    import nbclient

    monkeypatch.setenv("PYTHONPATH", str(notebooks.SOLUTIONS.parent))  # the kernel is a process of its own
    written = jupytext.read(notebooks.SOLUTIONS / f"{notebook}.py")
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(written, timeout=180, kernel_name="python3", resources=resources).execute()
    shown = [output["data"]["text/plain"] for cell in written.cells if cell.cell_type == "code"
             for output in cell.outputs if "data" in output]  # fmt: skip
    exercises = catalogue.of_notebook(notebook)
    for exercise in exercises:
        assert any(text.startswith(f"✓ {exercise.number} ") for text in shown), exercise.id
    points = sum(exercise.points for exercise in exercises)
    assert any(f"{points:g} of {points:g} points" in text for text in shown)
    assert any(text.startswith("[picture: ") for text in shown)
