"""Zeros of dropout that depend on each other, initial weights, and what a constructor hands on."""

import numpy as np
import pytest
from autograde_case import written

from autograde.boundary import call_answer
from autograde.exercises import catalogue
from autograde.exercises.planning import planner
from autograde.judging.answers import Answer
from autograde.judging.claims import Initial
from autograde.judging.claims.dropout import drawn_together
from autograde.judging.judge import judge

RNG = np.random.default_rng(5)
SHAPES = ((1500,), (4, 500), (6, 8, 40), (60, 60))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_zeros_drawn_one_by_one_are_never_suspected(shape, rate):
    assert not any(drawn_together(RNG.random(shape) < rate, rate) for _ in range(50))


@pytest.mark.parametrize(
    ("zero", "words"),
    [
        (np.broadcast_to(RNG.random((1, 8, 40)) < 0.4, (6, 8, 40)), "together"),  # one mask for the whole batch
        (np.broadcast_to(RNG.random((4, 500, 1)) < 0.4, (4, 500, 8)), "together"),  # whole rows
        (np.repeat(RNG.random((20, 50)) < 0.4, 2, axis=-1), "neighbouring"),  # pairs
        (RNG.permuted(np.tile(np.arange(50) < 20, (40, 1)), axis=-1), "same number"),  # exactly 20 in each row
        (np.tile(RNG.random(512) < 0.4, 3)[:1500], "repeat after 512"),
    ],
)
def test_zeros_that_depend_on_each_other_are_found(zero, words):
    assert words in drawn_together(zero, 0.4)


LAYER = """
class LayerNorm(keras.layers.Layer):
    def __init__(self, epsilon=1e-12, **kwargs):
        super().__init__({handed})

    def build(self, shape):
        self.gamma = self.add_weight(shape=(shape[-1],), initializer="ones"{trained})
        self.beta = self.add_weight(shape=(shape[-1],), initializer="zeros")

    def call(self, x):
        return x * self.gamma + self.beta
"""


@pytest.mark.parametrize(
    ("handed", "trained", "answers"),
    [
        ("**kwargs", "", [(True, True, ["gamma", "beta"]), (True, False, []), (True,)]),
        ("", "", [(False, True, ["gamma", "beta"]), (False, True, ["gamma", "beta"]), (False,)]),
        ("**kwargs", ", trainable=False", [(True, True, ["beta"]), (True, False, []), (True,)]),
    ],
)
def test_a_constructor_that_forgets_its_arguments_is_noticed(handed, trained, answers):
    plan = planner.make_plan(catalogue.find("layer-norm-layer"), misconceptions=False)
    asked = [question for question in plan["questions"] if question["probe"]["kind"] == "made"]
    got = call_answer.answer(asked, written(LAYER.format(handed=handed, trained=trained)))
    assert [tuple(answer["value"].values()) for answer in got] == answers


def test_tables_with_the_same_numbers_or_another_spread_are_found():
    claim = {"answer": 0, "spreads": {"a": 1.0, "b": 1.0}, "limit": 5.0}
    drawn = np.random.default_rng(4).normal(size=(2, 40, 30)).astype("float32")
    one, other = (table / table.std() for table in drawn)

    def found(**weights):
        difference = Initial.difference(claim, [Answer("ok", value=weights)])
        return difference.message if difference else ""

    assert found(a=one, b=other) == ""
    assert "those of another table" in found(a=one, b=one)
    assert "standard deviation of 2" in found(a=one, b=2 * other)
    assert "expected the initial numbers of b" in found(a=one)


def test_hidden_inputs_have_further_cases():
    exercise = catalogue.find("scores")
    visible, hidden = (planner.make_plan(exercise, seed, misconceptions=False) for seed in (None, "hidden"))
    assert len(hidden["questions"]) > len(visible["questions"]) and len(hidden["parts"]) == len(visible["parts"])


def test_ratios_that_are_divided_twice_differ_in_their_last_digit_and_are_refused():
    plan = planner.make_plan(catalogue.find("best-pair"), misconceptions=False)
    twice = "import math\n\n\ndef best_pair(spelled, rule, min_count=1):\n    n = {{}}\n    m = {{}}\n"
    twice += "    for word, k in spelled:\n"
    twice += "        for a in word:\n            n[a] = n.get(a, 0) + k\n"
    twice += "        for p in zip(word, word[1:]):\n            m[p] = m.get(p, 0) + k\n"
    twice += "    every = sum(n.values())\n    ratio = {{(a, b): {} for (a, b), k in m.items()}}\n"
    twice += "    gain = {{p: m[p] * math.log(every * ratio[p]) for p in m}}\n"
    twice += "    score = {{'count': m, 'ratio': ratio, 'gain': gain}}[rule]\n"
    twice += "    return min((p for p in m if m[p] >= min_count), key=lambda p: (-score[p], -m[p], p), default=())"
    verdicts = [
        judge(plan, lambda questions, code=code: call_answer.answer(questions, written(twice.format(code))))
        for code in ("k / (n[a] * n[b])", "k / n[a] / n[b]")
    ]
    assert [verdict.passed for verdict in verdicts] == [True, False]
