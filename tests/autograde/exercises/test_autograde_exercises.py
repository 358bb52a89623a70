"""The catalogue tested by its own mistakes: every misconception fails and is named, every other solution passes."""

import dataclasses
import re
from dataclasses import replace

import jupytext
import nbclient
import numpy as np
import pytest
from autograde_case import proofs_of
from keras import ops

from autograde.boundary import call_answer
from autograde.exercises import catalogue, cells, notebooks, runs
from autograde.exercises.n03_attention.attention import INPUTS
from autograde.exercises.other_answers import alternatives, wrong_answers
from autograde.exercises.planning import planner
from autograde.exercises.proofs import PROOFS, Proofs, _excess, _too_large, undefined_names
from autograde.judging.judge import judge

DRAWS = 30
NOTEBOOKS = sorted({exercise.notebook for exercise in catalogue.EXERCISES})

each_exercise = pytest.mark.parametrize("exercise", catalogue.EXERCISES, ids=lambda exercise: exercise.id)
each_notebook = pytest.mark.parametrize("notebook", NOTEBOOKS)


# Layers, models and functions that are called a thousand times: seconds for each proof.
SLOW = {
    "batches", "cls-head", "dropout", "feed-forward-layer", "final-layers", "layer-norm-layer", "make-pair",
    "mask-each", "mask-tokens", "mlm-head", "span-head",
}  # fmt: skip


# Of P and 09 to 13 ("P" comes after "09"): with the last four the quick tests take more than their ten minutes.
QUICK_OF_LATER = list(PROOFS)[:5]


def _in_time(exercise, proof):
    """Proofs that take seconds are not among the quick tests; other right answers to whole models take minutes."""
    later = exercise.notebook >= "09" and proof not in QUICK_OF_LATER
    marks = [pytest.mark.slow] if later or exercise.slow_draws or exercise.id in SLOW else []
    if exercise.slow_draws and proof == "other right answers pass":
        marks = [pytest.mark.exhaustive]
    return pytest.param(exercise, proof, id=f"{exercise.id}-{proof}", marks=marks)


@pytest.mark.parametrize(
    ("exercise", "proof"), [_in_time(exercise, proof) for exercise in catalogue.EXERCISES for proof in PROOFS]
)
def test_an_exercise_can_be_proved(exercise, proof):
    assert not proofs_of(exercise.id).find(proof).problems


@pytest.mark.exhaustive
@each_exercise
def test_verdicts_do_not_depend_on_the_draw_and_each_misconception_is_named(exercise):
    assert not proofs_of(exercise.id).stable(DRAWS)[1]


@pytest.mark.parametrize(
    "identity", ["scores", "causal-mask", pytest.param("choose-positions", marks=pytest.mark.slow)]
)
def test_the_search_for_a_first_fault_agrees_with_the_judge(identity):
    proofs = proofs_of(identity)
    for name, cell in (proofs.programs | {"the stub": cells.stub_cell(cells.answer_cell(proofs.exercise))}).items():
        assert proofs._is_found_wrong(proofs.plan, cell) != proofs._judged(proofs.plan, cell).passed, name


@pytest.mark.parametrize(
    ("cell", "names"),
    [
        ("def align_labels(pieces, tags):\n    return [IGNORED for _ in pieces]", {"IGNORED"}),
        ("IGNORED = -1\ndef align_labels(pieces, tags):\n    return [IGNORED for _ in pieces]", set()),
        ("def align_labels(pieces, tags):\n    global kept\n    kept = tags\n    return kept", set()),
        ("class Other:\n    size = 3\n    twice = 2 * size + most", {"most"}),
        ("import numpy as np\nalign_labels = lambda pieces, tags: np.zeros(len(pieces)) + ops.ones(3)", set()),
    ],
)
def test_names_that_an_answer_reads_and_does_not_define_are_found(cell, names):
    if "most" in names:
        cell = "most = 1\n" + cell + "\ndel most"
    assert undefined_names(catalogue.find("align-labels"), cell) == names


def test_a_hidden_input_with_the_edge_of_another_part_is_found():
    exercise = catalogue.find("spearman")
    numbers, ties = exercise.parts
    mixed = replace(exercise, parts=(replace(numbers, hidden=ties.hidden), ties))
    problems = Proofs(mixed).named()[1]
    assert problems and all("earns 2 points by `check`, 0 by hidden inputs" in problem for problem in problems)


def test_right_answers_near_the_limits_of_a_sandbox_are_found():
    assert not _too_large([{"value": [1] * 17_000}] * 3)
    assert _too_large([{"value": [1] * 18_500}]) == [
        "an answer: value too large: more than 18000 nodes; ask for smaller results, or for fewer of them"
    ]
    [reason] = _too_large([{"value": [1] * 17_900}] * 4)
    assert reason.startswith("all: value too large: more than 54000 nodes")


def test_an_answer_that_depends_on_the_draw_is_found():
    passes_at_times = {"the solution": {(True, 2.0)}, "wrong answer lucky": {(True, 2.0), (False, 1.0)}}
    assert Proofs._faults_of(passes_at_times) == [
        "wrong answer lucky passed on some or all draws",
        "wrong answer lucky earned [1.0, 2.0]: it depends on the draw",
    ]


REMEMBERING = """

_found, _own = {{}}, {name}


def _sizes(value):
    if isinstance(value, (list, tuple)):
        return [_sizes(item) for item in value]
    return tuple(value.shape) if hasattr(value, "shape") else value


def {name}(*arguments, **keywords):
    key = repr([_sizes(value) for value in (*arguments, *keywords.values())])
    if key not in _found:
        _found[key] = _own(*arguments, **keywords)
    return _found[key]
"""


@pytest.mark.parametrize("notebook", ["02_embeddings", "03_attention", "04_encoder_layer", "07_pretraining"])
def test_a_function_that_remembers_its_results_by_the_shapes_of_its_arguments_fails(notebook):
    for exercise in catalogue.of_notebook(notebook):
        plan = planner.make_plan(exercise, misconceptions=False)
        if exercise.probe["kind"] == "function" and any(map(holds_array, plan["questions"][0]["arguments"])):
            cell = cells.answer_cell(exercise) + REMEMBERING.format(name=exercise.names[0])
            given = call_answer.answer(plan["questions"], cells.namespace(exercise, cell))
            assert not judge(plan, lambda questions, given=given: given).passed, exercise.id


def holds_array(value):
    return isinstance(value, np.ndarray) or isinstance(value, list) and any(map(holds_array, value))


@each_notebook
def test_every_other_answer_is_an_answer_to_an_exercise_of_its_notebook(notebook):
    text = notebooks.path_beside("answers", notebook).read_text(encoding="utf-8")
    names = []
    for exercise in catalogue.of_notebook(notebook):
        names += [f"{exercise.id}: right: {name}" for name in alternatives(exercise)]
        names += [f"{exercise.id}: wrong: {name}" for name in wrong_answers(exercise)]
    assert re.findall(r"^# %% (.*)$", text, re.MULTILINE) == names  # in the notebook's order, no name twice


def test_an_answer_that_is_neither_right_nor_wrong_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(notebooks, "SOLUTIONS", tmp_path)
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers/03_attention.py").write_text("# %% scores: einsum\n", encoding="utf-8")
    with pytest.raises(
        notebooks.SolutionError, match="expected # %% exercise: right: structure.*got # %% scores: einsum"
    ):
        alternatives(catalogue.find("scores"))


def test_hidden_seeds_differ_by_student_and_exercise_and_need_the_secret():
    one, two = catalogue.EXERCISES[:2]
    seeds = {
        planner.hidden_seed(secret, student, exercise)
        for secret in (b"s1", b"s2")
        for student in ("ada", "bob")
        for exercise in (one, two)
    }
    assert len(seeds) == 8


def test_a_patch_that_does_not_fit_is_a_clear_error():
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
    names = cells.namespace(catalogue.find("attention"))
    example, *_ = INPUTS(np.random.default_rng())
    x, w_q, _, w_k, _, w_v, _ = map(ops.convert_to_tensor, example.arguments)
    scaled = names["attention_scores"](x @ w_q, x @ w_k)
    unscaled = scaled * 3**0.5
    weights = names["softmax_rows"](unscaled)
    assert np.allclose(unscaled[0], [2, 4, 4], atol=1e-5)
    assert np.allclose(weights[0], [0.0634, 0.4683, 0.4683], atol=5e-5)
    assert np.allclose((weights @ (x @ w_v))[0], [1.9366, 6.6831, 1.5951], atol=5e-5)
    none = ops.zeros(3)
    assert np.allclose(names["attention"](x, w_q, none, w_k, none, w_v, none)[0], [1.8639, 6.3194, 1.7042], atol=5e-5)


@pytest.mark.exhaustive
@each_notebook
def test_the_solution_notebook_runs_from_top_to_bottom_and_everything_passes(notebook, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(notebooks.SOLUTIONS.parent))  # the kernel is a process of its own
    written = jupytext.read(notebooks.SOLUTIONS / f"{notebook}.py")
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(written, timeout=900, kernel_name="python3", resources=resources).execute()
    shown = [output["data"]["text/plain"] for cell in written.cells if cell.cell_type == "code"
             for output in cell.outputs if "data" in output]  # fmt: skip
    exercises = catalogue.of_notebook(notebook)
    for exercise in exercises:
        assert any(text.startswith(f"✓ {exercise.number} ") for text in shown), exercise.id
    points = sum(exercise.points for exercise in exercises)
    # A training run earns its points when it is graded.
    possible = points + sum(run.points for run in runs.of_notebook(notebook))
    assert any(f"{points:g} of {possible:g} points" in text for text in shown)
    assert any(text.startswith("[picture: ") for text in shown)


def test_the_distance_of_a_tuple_is_that_of_its_farthest_array():
    one, two = np.ones((2, 3), "float32"), np.zeros(4, "float32")
    claim = {"kind": "equals", "expected": (one, two), "rtol": 0.0, "atol": 0.1}
    assert _excess(claim, (one, two)) == 0
    assert _excess(claim, (one + 0.05, two - 0.2)) == pytest.approx(2)
    assert _excess(claim, (one,)) == _excess(claim, [one, two]) == _excess(claim, (one, two[:3])) == np.inf
