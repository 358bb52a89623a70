"""Metrics against their definitions, worked out by hand or in another way than the library does it."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertlab.common.errors import DataError
from bertlab.data.tasks.metrics import accuracy, default_metrics, f1, macro_f1, matthews, pearson, score, spearman
from bertlab.data.tasks.rows import PairRow, QuestionRow, SentenceRow, TaggingRow

# 12 rows: of class 1, three found (TP), two missed (FN); of class 0, six kept (TN), one claimed (FP).
GOLD = [1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0]
GUESS = [1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0]

binary = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=40)


def test_the_table_of_four_gives_the_textbook_figures():
    tp, fn, fp, tn = 3, 2, 1, 6
    assert accuracy(GOLD, GUESS) == pytest.approx(9 / 12)
    assert f1(GOLD, GUESS) == pytest.approx(float(Fraction(2 * tp, 2 * tp + fp + fn)))
    expected = (tp * tn - fp * fn) / math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert matthews(GOLD, GUESS) == pytest.approx(expected)
    f1_of_0 = 2 * tn / (2 * tn + fp + fn)
    assert macro_f1(GOLD, GUESS) == pytest.approx((f1_of_0 + 2 * tp / (2 * tp + fp + fn)) / 2)
    assert f1([0, 0], [0, 0]) == matthews([1, 1], [1, 0]) == 0.0  # without the class, or a difference, anywhere


@given(binary)
def test_matthews_on_two_classes_is_the_formula_of_1975(pairs):
    counts = {cell: sum(pair == cell for pair in pairs) for cell in product((0, 1), repeat=2)}
    tn, fp, fn, tp = counts[0, 0], counts[0, 1], counts[1, 0], counts[1, 1]
    below = math.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    expected = (tp * tn - fp * fn) / below if below else 0.0
    gold, guess = zip(*pairs)
    assert matthews(gold, guess) == pytest.approx(expected, abs=1e-12)


def test_matthews_on_three_classes_is_gorodkins_r_k():
    gold, guess = [0, 0, 0, 1, 1, 2, 2, 2, 2], [0, 0, 1, 1, 2, 2, 2, 2, 0]
    table = np.zeros((3, 3))
    for a, b in zip(gold, guess):
        table[a, b] += 1
    total, right = table.sum(), np.trace(table)
    rows, columns = table.sum(1), table.sum(0)
    above = right * total - rows @ columns
    below = math.sqrt((total**2 - columns @ columns) * (total**2 - rows @ rows))
    assert matthews(gold, guess) == pytest.approx(above / below)


def test_correlations_on_small_numbers_are_worked_out_by_hand():
    # means 3 and 4: deviations −2 −1 0 1 2 and −2 0 1 1 0; Σxy = 5, Σx² = 10, Σy² = 6
    assert pearson([1, 2, 3, 4, 5], [2, 4, 5, 5, 4]) == pytest.approx(5 / math.sqrt(60))
    # equal ones share the mean of their ranks: 1 2 3 4 5 and 1 2.5 4.5 4.5 2.5; Σxy = 4 + .5 + 1.5 − 1 = 5, Σy² = 9
    assert spearman([1, 2, 3, 4, 5], [2, 4, 5, 5, 4]) == pytest.approx(5 / math.sqrt(10 * 9))


@pytest.mark.parametrize("correlation", [pearson, spearman])
@pytest.mark.parametrize("constant", [3, 0.1])  # three times 0.1 has another mean in floating point
def test_a_correlation_with_a_constant_is_not_defined(correlation, constant):
    assert math.isnan(correlation([1, 2, 4], [constant] * 3))
    assert math.isnan(correlation([constant] * 3, [1, 2, 4]))


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=20), st.integers(1, 9), st.integers(-9, 9))
def test_spearman_does_not_change_under_a_rising_function(values, scale, shift):
    other = np.arange(len(values))
    risen = [scale * value**3 + shift for value in values]
    assert spearman(values, other) == pytest.approx(spearman(risen, other), nan_ok=True)


def test_what_cannot_be_measured_is_an_error():
    with pytest.raises(DataError, match=r"\(2,\) labels and \(3,\) predictions"):
        accuracy([0, 1], [0, 1, 1])
    with pytest.raises(DataError, match="expected at least one row"):
        accuracy([], [])
    with pytest.raises(DataError, match="some rows have no label"):
        accuracy([0, None], [0, 1])


def test_a_task_is_scored_with_its_own_metrics_in_their_order():
    rows = [SentenceRow("x", label) for label in GOLD]
    assert list(score(("f1", "accuracy"), rows, ("no", "yes"), GUESS)) == ["f1", "accuracy"]
    rows = [PairRow("x", "y", label) for label in (1.0, 2.0, 3.0)]
    assert score(("pearson", "spearman"), rows, (), [2.0, 4.0, 6.0])["pearson"] == pytest.approx(1)
    rows = [TaggingRow(("in", "Rome"), (0, 1)), TaggingRow(("Bonn",), (1,))]
    assert score(("entities",), rows, ("O", "B-LOC"), [[0, 1], [0]])["f1"] == pytest.approx(2 / 3)
    assert score(("tags",), rows, ("X", "Y"), [[0, 1], [0]]) == {"accuracy": pytest.approx(2 / 3)}
    rows = [QuestionRow("a", "?", "b c", ("b",), (0,))]
    assert score(("squad",), rows, (), {"a": "b"}) == {"f1": 1.0, "exact": 1.0}


def test_the_f1_of_two_classes_of_ones_own_says_whose_it_is():
    rows = [SentenceRow("x", label) for label in GOLD]
    figures = score(default_metrics("sentence", ("ham", "spam")), rows, ("ham", "spam"), GUESS)
    assert figures == {"accuracy": pytest.approx(9 / 12), "f1:spam": pytest.approx(f1(GOLD, GUESS))}
    assert score(("f1:ham",), rows, ("ham", "spam"), GUESS) == {"f1:ham": pytest.approx(2 * 6 / (2 * 6 + 1 + 2))}
    with pytest.raises(DataError, match="there is no metric 'f1:eggs'"):
        score(("f1:eggs",), rows, ("ham", "spam"), GUESS)


def test_a_wrong_number_of_tags_and_unknown_metrics_are_errors():
    rows = [TaggingRow(("in", "Rome"), (0, 1))]
    with pytest.raises(DataError, match="one predicted tag for each word"):
        score(("entities",), rows, ("O", "B-LOC"), [[0]])
    with pytest.raises(DataError, match="there is no metric 'bleu'"):
        score(("bleu",), rows, (), [])


def test_every_shape_has_metrics_of_its_own():
    assert default_metrics("sentence", ("a", "b", "c")) == ("accuracy", "macro_f1")
    assert default_metrics("pair", ("a", "b")) == ("accuracy", "f1:b")
    assert default_metrics("pair", ()) == ("pearson", "spearman")
    for labels in (("O", "I-X"), ("O", "B-X", "I-X", "E-X", "S-X"), ("O", "B-X", "I-X", "L-X", "U-X")):
        assert default_metrics("tagging", labels) == ("entities",)
    assert default_metrics("tagging", ("NOUN", "VERB")) == ("tags",)
