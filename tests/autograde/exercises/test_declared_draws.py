"""Inputs that are declared by the shapes of a stub: what is read, what is drawn, and what the proofs refuse."""

from dataclasses import replace

import numpy as np
import pytest

from autograde.exercises import catalogue, notebooks, stub_shapes
from autograde.exercises.draws import DrawError, at_drawn_sizes, draws, sized
from autograde.exercises.planning import planner
from autograde.exercises.proofs import Proofs
from autograde.exercises.spec import Case, cases, values
from autograde.exercises.stub_shapes import Shape

SCORES, MODULE = "autograde.exercises.n03_attention.scores", "autograde.exercises.n09_course.mixed"
CELL = '''# %% [markdown]
# ## 9.1 Mixed · 2 points · ~5 minutes

# %% nbgrader={"grade_id": "mixed", "solution": true}
def mixed(heads: list, ids: Tensor, tokens: int, mask: Tensor, epsilon: float = 0.1):
    """Mixed.

    heads: a list of tensors (..., tokens, d), one per head    ids: (2, tokens) integers
    tokens: number of tokens    mask: booleans that broadcast to (tokens, d)
    epsilon: any shape
    returns (..., tokens, heads * d): side by side
    """

# %% nbgrader={"grade": true, "grade_id": "check-mixed", "points": 2}
check(mixed)
'''


@pytest.fixture
def mixed(tmp_path, monkeypatch):
    (tmp_path / "09_course.py").write_text(CELL, encoding="utf-8")
    monkeypatch.setattr(notebooks, "SOLUTIONS", tmp_path)
    return stub_shapes.of_module(MODULE)


def rng():
    return np.random.default_rng(3)


def shapes(drawn):
    return [tuple(array.shape for array in case.arguments) for case in drawn]


def test_shapes_dtypes_lists_numbers_and_optional_arguments_are_read(mixed):
    assert mixed.arguments == {
        "heads": Shape(("...", "tokens", "d"), is_list=True), "ids": Shape(("2", "tokens"), "int32"), "tokens": None,
        "mask": None, "epsilon": None,
    }  # fmt: skip
    assert (mixed.numbers, mixed.optional) == (("tokens",), ("epsilon",))
    assert str(mixed.result) == "(..., tokens, heads * d)" and mixed.axes == ["heads", "tokens", "d"]


def test_each_kind_of_argument_is_drawn(mixed):
    inputs = draws(MODULE, ids=9, mask=lambda rng, sizes: np.ones((sizes["tokens"], sizes["d"]), bool))
    case = inputs.case(rng(), front=(4,), heads=3, tokens=5, d=6)
    heads, ids, tokens, mask = case.arguments
    assert [head.shape for head in heads] == [(4, 5, 6)] * 3 and heads[0].dtype == "float32"
    assert ids.shape == (2, 5) and ids.dtype == "int32" and 0 <= ids.min() <= ids.max() < 9
    assert tokens == 5 and mask.shape == (5, 6) and case.keywords == {}
    assert draws(MODULE, ids="d", mask=inputs.arguments["mask"]).case(rng(), d=1).arguments[1].max() == 0
    assert not list(mixed.problems(case.arguments, np.zeros((4, 5, 18), "float32")))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ids": 9}, "no shape that can be read for mask"),
        ({"mask": lambda rng, sizes: 0}, r"states \(2, tokens\) int32 for ids; give draws\(…, ids=function\)"),
        ({"maks": 3}, "expected arguments of the stub, got maks"),
        ({"scale": {"headz": 3.0}}, "expected arguments of the stub, got headz"),
    ],
)
def test_a_declaration_that_says_too_little_or_too_much_is_refused(mixed, given, message):
    with pytest.raises(DrawError, match=message):
        draws(MODULE, **given)(rng())


def test_literal_cases_come_first_then_sized_ones_then_the_usual_ones():
    literal = Case(([[1, 2]], [[3, 4], [5, 6]]), note="by hand")
    special = sized(tokens=70, scale={"q": 100}, zeros="k")
    first, second, *usual = draws(SCORES, special, literal)(rng())
    assert first.note == "by hand" and first.arguments[1].tolist() == [[3, 4], [5, 6]]
    assert first.arguments[0].dtype == "float32"
    q, k = second.arguments
    assert len(q) == 70 and np.abs(q).max() > 100 > np.abs(k).max() and not k[0].any() and k[1:].all()
    sizes = [tuple(q[-2:] + k[-2:-1]) for q, k in shapes(usual)]
    assert all(len(set(size)) == 3 for size in sizes[:4]) and sizes[4] == (4, 4, 4)  # different, then square
    assert [q[:-2] for q, _ in shapes(usual)[:5]] == [(), (2,), (2, 3), (1, 2, 2), (4,)]
    assert [size.index(1) for size in sizes[5:]] == [0, 1, 2]  # each axis in turn


def test_hidden_cases_have_drawn_sizes_and_the_same_ones_for_the_same_seed():
    inputs = draws(SCORES)
    hidden = shapes(inputs.hidden(rng()))
    assert hidden == shapes(inputs.hidden(rng())) != shapes(inputs.hidden(np.random.default_rng(4)))
    assert [q[:-2] for q, _ in hidden] == [(), (1,), (2, 2), (2, 1, 3)]
    part = values(1, inputs)
    assert shapes(trial.cases[0] for trial in part.hidden(rng())) == hidden
    assert values(1, inputs, hidden=lambda rng: []).hidden(rng()) == cases("x", 1, [Case((1,))], "").hidden(rng()) == []


def test_axes_in_front_and_smallest_sizes_can_be_fixed():
    for in_front in (True, False):
        inputs = draws(SCORES, in_front=in_front, least={"d_attn": 8})
        drawn = shapes([*inputs(rng()), *inputs.hidden(rng())])
        different, square = drawn[:-4], drawn[-4:]
        assert all(q[-1] >= 8 for q, _ in different + square)
        assert {len(q) > 2 for q, _ in drawn} == {in_front}


def test_gradients_have_a_direction_for_each_argument_of_floats():
    (trial,) = draws(SCORES).gradients(rng())
    (slopes,) = trial.claims
    q, k = trial.cases[0].arguments
    assert {key: array.shape for key, array in slopes.directions.items()} == {0: q.shape, 1: k.shape}
    assert slopes.cotangent.shape == (len(q), len(k))


def test_drawn_sizes_of_a_layer_are_at_least_the_smallest():
    drawn = at_drawn_sizes(lambda rng, batch, heads: Case((batch, heads)), 1, 5, number=50, largest=6)(rng())
    batches, heads = zip(*(case.arguments for case in drawn))
    assert set(batches) == {1, 2, 3, 4, 5, 6} and set(heads) == {5, 6}


@pytest.mark.parametrize(
    ("draw", "reference", "problem"),
    [
        (Case(([[1.0]], [[1.0, 2.0]])), None, "k: expected (..., other_tokens, d_attn), got (1, 2): d_attn is 1"),
        (Case(([1.0], [[1.0]])), None, "q: expected (..., tokens, d_attn), got (1,)"),
        (Case(([[1.0]], [[1.0]])), lambda q, k: q @ k.T > 0, "the result: expected float32"),
        (Case(([[1.0]], [[1.0], [2.0]])), lambda q, k: k @ q.T, "got (2, 1): tokens is 1 elsewhere"),
    ],
)
def test_a_proof_compares_inputs_and_results_with_the_stub(draw, reference, problem):
    scores = catalogue.find("scores")
    arrays = replace(draw, arguments=tuple(np.array(value, "float32") for value in draw.arguments))
    changed = replace(scores, parts=(values(3, [arrays]),), reference=reference or (lambda q, k: q[:1] * 0))
    if reference is not None and reference(*arrays.arguments).dtype == bool:
        changed = replace(changed, dtype="bool")
    assert any(problem in found for found in Proofs(changed).stated()[1])
    assert not Proofs(scores).stated()[1]


def test_an_exercise_that_draws_nothing_is_known():
    scores = catalogue.find("scores")
    assert planner.draws_anything(scores)
    assert not planner.draws_anything(replace(scores, parts=(values(3, [Case((np.eye(2), np.eye(3)))]),)))


def test_a_right_answer_never_fails_because_float32_rounds():
    """Cross-attention with scores of a thousand: in one draw of a hundred two scores nearly tie."""
    exercise, drawn_again = catalogue.find("cross-attention"), 0
    for seed in map(str, range(300)):
        source = planner.generator(exercise, seed)
        first = [trial for part in exercise.parts for trial in part.trials(source) + part.hidden(source)]
        drawn_again += not all(planner.is_steady(exercise, trial) for trial in first)
        chosen = [trial for trials in planner.drawn_trials(exercise, seed) for trial in trials]
        assert all(planner.is_steady(exercise, trial) for trial in chosen)
        assert len(chosen) == len(first)
    assert drawn_again


@pytest.mark.exhaustive
@pytest.mark.parametrize("exercise", catalogue.EXERCISES, ids=lambda exercise: exercise.id)
def test_the_inputs_of_every_exercise_leave_room_for_rounding(exercise):
    for seed in (planner.visible_seed(exercise), *map(str, range(3 if exercise.slow_draws else 30))):
        trials = [trial for trials in planner.drawn_trials(exercise, seed) for trial in trials]
        assert all(planner.is_steady(exercise, trial) for trial in trials)


def test_a_word_is_never_drawn_as_often_as_zero_times():
    """The counts of words have a long tail and are cut at 997, which once left 0: no pair could then be scored."""
    assert all(planner.drawn_trials(catalogue.find("best-pair"), "29"))
