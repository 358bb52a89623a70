"""Judging functions that draw: a right one is safe, the nearest wrong one is not, and no answer is trusted."""

import functools
import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from autograde_case import asking, visible_plan, written

from autograde.boundary import call_answer
from autograde.boundary.values import ANSWERS, encode
from autograde.exercises import catalogue, cells
from autograde.exercises.planning import planner
from autograde.judging.answers import Answer
from autograde.judging.binomial_bounds import FALSE_ALARM, bounds
from autograde.judging.claims import Initial, random_claims
from autograde.judging.claims.dropout import drawn_together
from autograde.judging.compare import Difference
from autograde.judging.judge import judge
from autograde.judging.rules import RULES

CHANCY = [exercise for exercise in catalogue.EXERCISES if exercise.probe["kind"] == "seeded"]
each_chancy = pytest.mark.parametrize("exercise", CHANCY, ids=lambda exercise: exercise.id)


def _sum(n, p, numbers) -> Fraction:
    """The probability that one of these numbers comes up, as an exact fraction."""
    p = Fraction(p)
    return sum((comb(n, k) * p**k * (1 - p) ** (n - k) for k in numbers), Fraction(0))


@functools.cache
def _outside(n, p, low, high) -> Fraction:
    """The probability to lie outside of [low, high], in units of 2⁻¹⁶³⁸⁴, each term rounded up: an upper bound."""
    share, scale = Fraction(p), 1 << 16384
    odds = share / (1 - share)
    total, term = 0, math.ceil(scale * (1 - share) ** n)
    for k in range(n + 1):
        total += 0 if low <= k <= high else term
        term = math.ceil(term * (n - k) * odds.numerator / Fraction((k + 1) * odds.denominator))
    return Fraction(total, scale)


def _rates(exercise, seed="chances"):
    plan = planner.make_plan(exercise, seed, misconceptions=False)
    return [claim for part in plan["parts"] for claim in part["claims"] if claim["kind"] == "rates"]


# --- the bounds ---


@pytest.mark.parametrize(("n", "p"), [(1, 0.5), (7, 0.3), (40, 0.02), (200, 0.5)])
@pytest.mark.parametrize("alarm", [1e-9, 1e-6, 1e-2])
def test_bounds_keep_the_false_alarm_and_are_as_narrow_as_they_can_be(n, p, alarm):
    low, high = bounds(n, p, alarm)
    half = Fraction(alarm) / 2
    assert _sum(n, p, range(low)) <= half < _sum(n, p, range(low + 1))
    assert _sum(n, p, range(high + 1, n + 1)) <= half < _sum(n, p, range(high, n + 1))


def test_a_certain_event_has_exact_bounds():
    assert bounds(300, 0.0) == (0, 0) and bounds(300, 1.0) == (300, 300)


@pytest.mark.parametrize(("n", "p", "low", "high"), [(60, 0.25, 4, 28), (90, 0.8, 55, 88)])
def test_the_quick_tail_sum_of_these_tests_lies_just_above_the_exact_one(n, p, low, high):
    exact = 1 - _sum(n, p, range(low, high + 1))
    assert exact <= _outside(n, p, low, high) <= exact * Fraction(1001, 1000)


@pytest.mark.exhaustive
@each_chancy
def test_a_right_answer_is_refused_less_than_once_in_a_million_checks(exercise):
    """The risk is the sum of the tails over every event of every claim of the exercise."""
    risk = Fraction(0)
    for claim in _rates(exercise):
        for n, p, limits in zip(claim["tries"], claim["probabilities"], claim["bounds"]):
            alarm = _outside(n, p, *limits) if 0 < p < 1 else Fraction(0)
            assert alarm <= FALSE_ALARM / len(claim["events"])
            risk += alarm
    assert 0 < risk < Fraction(1, 10**6)


# --- the nearest mistakes, as probabilities ---

NEAREST = [  # exercise, event, what the mistake makes of its probability
    ("mask-tokens", "unchanged", 0.0, "80/20/0"),
    ("mask-tokens", "replaced by another token", 0.2, "80/20/0"),
    ("mask-tokens", "replaced by another token", 0.02, "a second draw of 0.1"),
    ("mask-tokens", "masked", 1.0, "always the mask"),
    ("mask-tokens", "5 masked", 0.8, "one fate for all"),
    ("mask-tokens", "masked at 1 and 2", 0.8, "one fate for neighbours"),
    ("mask-tokens", "first two replaced by the same", 0.485, "one replacement for a row"),
    ("mask-tokens", "first two replaced by others", 0.067, "one fate for all"),
    ("mask-each", "positions 0 and 1", 0.25, "runs of masks"),
    ("choose-positions", "positions 1 and 2", 0.28, "one stretch"),
    ("choose-positions", "position 1", 3 / 11, "drawn from all positions, the special ones included"),
    ("make-pair", "next", 1.0, "always next"),
    ("make-pair", "sentence 0 of document 2", 0.125, "opening sentences only"),
    ("choose-positions", "mostly in the first half", 0.61, "a shuffle that exchanges each element with any other"),
]
WEAK = {("choose-positions", "position 1")}  # caught by the rule that no special token may be chosen, not by counting


@pytest.mark.parametrize(("identity", "event", "wrong", "what"), NEAREST)
def test_the_nearest_mistake_leaves_the_bounds(identity, event, wrong, what):
    if (identity, event) in WEAK:
        plan = visible_plan(identity)
        careless = "def choose_positions(ids, special, count, rng):\n    "
        careless += "return sorted(rng.choice(len(ids), min(count, len(ids)), False).tolist())"
        verdict = judge(plan, asking(written(careless)))
        assert verdict.points == 0 and verdict.misconception == "special-tokens-too"
        assert "has a special token" in str(verdict)
        return
    found = [
        (n, limits)
        for claim in _rates(catalogue.find(identity))
        for name, n, limits in zip(claim["events"], claim["tries"], claim["bounds"])
        if name == event
    ]
    assert found
    for n, (low, high) in found:
        inside = 1 - _outside(n, wrong, low, high) if 0 < wrong < 1 else low <= wrong * n <= high
        assert inside < 1e-3, what


# --- mistakes are named however the student's code draws ---

OTHERWISE_WRITTEN = [
    ("mask-each", "kept-with-p", "def mask_each(ids, m, p, rng):\n    hidden = rng.random(len(ids)) > p\n"
     "    return np.where(hidden, m, ids).tolist(), np.flatnonzero(hidden).tolist()"),
    ("mask-each", "fixed-number", "def mask_each(ids, m, p, rng):\n    n = round(len(ids) * p)\n"
     "    places = sorted(rng.choice(len(ids), n, replace=False).tolist())\n"
     "    return [m if t in places else x for t, x in enumerate(ids)], places"),
    ("mask-tokens", "none-unchanged", "def mask_tokens(ids, places, m, others, rng):\n"
     "    return [x if t not in places else int(rng.choice([m, rng.choice(others)], p=[0.8, 0.2]))"
     " for t, x in enumerate(ids)]"),
    ("mask-tokens", "second-draw", "def mask_tokens(ids, places, m, others, rng):\n    new = list(ids)\n"
     "    for t in places:\n        a, b = rng.random(2)\n        new[t] = m if a < 0.8 else "
     "others[rng.integers(len(others))] if b < 0.1 else new[t]\n    return new"),
    ("make-pair", "always-next", "def make_pair(d, i, s, rng):\n    return d[i][s], d[i][s + 1], 0"),
]  # fmt: skip


@pytest.mark.parametrize(("identity", "known", "source"), OTHERWISE_WRITTEN)
def test_a_known_mistake_is_named_although_other_code_draws_other_numbers(identity, known, source):
    verdict = judge(visible_plan(identity), asking(written(source)))
    assert not verdict.passed and verdict.misconception == known, str(verdict)


REPORTED = [  # exercise, source, status, what is said
    ("choose-positions", "def choose_positions(ids, special, count, rng):\n    rng = np.random.default_rng()\n"
     "    allowed = [t for t, token in enumerate(ids) if token not in special]\n"
     "    return sorted(rng.permutation(allowed)[:count].tolist())", "wrong", "draw from `rng` only"),
    ("choose-positions", "import numpy as np\n" + cells.answer_cell(catalogue.find("choose-positions")).replace(
        "rng.choice", "np.random.default_rng(0).choice"),
     "partly", "calls, each with another seed, gave the same result: draw from `rng` only"),
    ("mask-tokens", "def mask_tokens(ids, places, m, others, rng):\n    new = list(ids)\n    for t in places:\n"
     "        new[t] = m if rng.random() < 0.6 else new[t]\n    return new", "partly",
     "times in 5045; expected about 4036, by chance between"),
    ("mask-tokens", "def mask_tokens(ids, places, m, others, rng):\n    for t in places:\n        fate = rng.random()\n"
     "        ids[t] = m if fate < 0.8 else int(rng.choice(others)) if fate < 0.9 else ids[t]\n    return ids",
     "wrong", "changes one of its arguments"),
]  # fmt: skip


@pytest.mark.parametrize(("identity", "source", "status", "words"), REPORTED)
def test_what_is_wrong_with_the_chance_or_the_arguments_is_reported(identity, source, status, words):
    verdict = judge(visible_plan(identity), asking(written(source)), source)
    assert verdict.status == status and words in str(verdict)


def test_a_result_that_a_later_call_changes_is_reported():
    own = "    allowed = [t for t, token in enumerate(token_ids) if token not in special_ids]\n"
    own += "    {}sorted(int(t) for t in rng.choice(allowed, size=min(count, len(allowed)), replace=False))\n"
    source = "kept = []\ndef choose_positions(token_ids, special_ids, count, rng):\n" + own
    plan = visible_plan("choose-positions")
    verdict = judge(plan, asking(written(source.format("kept[:] = ") + "    return kept")))
    assert verdict.points == 0 and "A later call of your function changes what an earlier call returned" in str(verdict)
    hidden = judge(plan, asking(written(source.format("kept[:] = ") + "    return kept")), reveal=False)
    assert "A later call of your function changes what an earlier call returned." in str(hidden)
    assert judge(plan, asking(written(source.format("return ")))).passed


# --- nothing that comes back is trusted ---

NONSENSE = [
    None, 7, "text", [], [[]], {}, {"input_ids": 3}, [None], [1.5], [True], (3, 2, 1), ([], []), (["a"], [2]),
    [10**30], [-1], np.zeros(()), np.zeros((3, 3)), np.array(["x"]), [np.zeros((2, 2), int)], ("a", "b", 0), ([], 1, 2),
    [{"input_ids": np.zeros((4, 5), "int32")}] * 20, [{"input_ids": np.zeros(())}], np.full(5, np.nan), [[0] * 5000],
]  # fmt: skip


@functools.cache
def _given():
    """The arguments of one question under each rule."""
    drawing = (exercise for exercise in catalogue.EXERCISES if exercise.probe["kind"] in ("seeded", "items"))
    plans = [planner.make_plan(exercise, "given", misconceptions=False) for exercise in drawing]
    claims = [claim for plan in plans for part in plan["parts"] for claim in part["claims"] if "rule" in claim]
    return {claim["rule"]: claim["given"] for claim in reversed(claims)}  # the first of each rule


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("nonsense", NONSENSE, ids=lambda value: type(value).__name__)
def test_a_rule_answers_any_plain_value_with_events_or_a_difference(rule, nonsense):
    given = _given()[rule]
    if rule == "epochs" and type(nonsense) is not list:
        pytest.skip("a stream's answer is a list, or it is refused before the rule")
    found = RULES[rule](given, nonsense)
    assert isinstance(found, Difference) and found.message


@pytest.mark.parametrize("value", [None, 3, [], [[1]] * 5, {"a": []}, np.zeros(301), "x" * 301])
def test_an_answer_that_is_no_list_of_results_is_refused(value):
    for exercise in CHANCY:
        plan = visible_plan(exercise.id)
        answers = call_answer.answer(plan["questions"], {})
        changed = {"status": "ok", "value": value, "notes": {"returned": exercise.returns}}
        answers = [answer | changed for answer in answers]
        verdict = judge(plan, lambda questions, answers=answers: answers)
        assert verdict.points == 0 and verdict.misconception is None


def test_a_plan_of_calls_that_never_repeat_a_seed_but_the_first():
    for exercise in CHANCY:
        for question in planner.make_plan(exercise, "seeds", misconceptions=False)["questions"]:
            *seeds, again = question["probe"].get("of", question["probe"])["seeds"]
            assert again == seeds[0] and len(set(seeds)) == len(seeds)


def test_two_rates_are_alike_only_within_chance():
    assert random_claims._same_rate(150, 160, 1500) and not random_claims._same_rate(150, 300, 1500)


def test_a_thousand_results_fit_into_one_frame_also_when_they_are_numpys_numbers():
    numpys = "def choose_positions(ids, special, count, rng):\n    allowed = np.flatnonzero(~np.isin(ids, special))\n"
    numpys += "    return sorted(rng.permutation(allowed)[:count])"
    plan = visible_plan("choose-positions")
    assert judge(plan, asking(written(numpys))).passed
    for exercise in CHANCY:
        questions = visible_plan(exercise.id)["questions"]
        answers = call_answer.answer(questions, cells.namespace(exercise))
        encode(answers, ANSWERS)
        assert sum(len(str(answer["value"])) for answer in answers) < 1_000_000


# --- zeros of dropout, initial weights, what a constructor hands on ---

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
