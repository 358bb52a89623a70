"""Notebook 08b: its worked numbers come out of the solutions' own functions."""

import numpy as np
import pytest
from notebook_loading import names_of_notebook  # noqa: F401 (a fixture)

NOTEBOOK = "08b_how_good"


def test_always_yes_has_a_high_f1_and_no_correlation(names):
    f1, matthews = names["f1_and_matthews"]([1] * 8 + [0] * 4, [1] * 12)
    assert (f1, matthews) == (pytest.approx(0.8), 0.0)


def test_spearman_shares_ranks_and_ignores_bends(names):
    spearman = names["spearman"]
    rising = [0.2, 1.0, 1.8, 2.6, 3.4, 4.2, 5.0]
    assert spearman(rising, np.exp(rising)) == pytest.approx(1)
    ranks = [1, 2.5, 2.5, 4]
    assert spearman([3, 7, 7, 9], ranks) == pytest.approx(1)
    assert spearman([3, 7, 7, 9], [1, 2, 3, 4]) == pytest.approx(np.corrcoef(ranks, [1, 2, 3, 4])[0, 1])


def test_span_scores_of_the_lectures_answer(names):
    scores = names["span_scores"]
    answers = ["J.K. Rowling", "Rowling"]
    assert scores("the J.K. Rowling!", answers) == (1.0, 1.0)
    assert scores("written by J.K. Rowling", answers) == (0.0, pytest.approx(2 * 2 / (4 + 2)))
    assert scores("Harry Potter", answers) == (0.0, 0.0)
    assert scores("", []) == (1.0, 1.0)


def test_the_three_rounds_of_the_text(names):
    drawn = [[0, 1, 2, 3], [1, 1, 0, 0], [0, 2, 3, 3]]
    low, high, share = names["paired_bootstrap"]([1, 0, 1, 0], [1, 1, 1, 0], drawn)
    assert share == pytest.approx(1 / 3) and (low, high) == pytest.approx((0.0125, 0.4875))


def test_gains_on_the_same_examples_are_surer_than_gains_and_losses_of_the_same_size(names):
    a = np.array([1.0] * 80 + [0.0] * 26)
    only_gains, both = a.copy(), a.copy()
    only_gains[80:85] = 1
    both[80:95], both[:10] = 1, 0
    rounds = np.random.default_rng(8).integers(len(a), size=(4000, len(a)))
    results = [names["paired_bootstrap"](list(a), list(b), rounds) for b in (only_gains, both)]
    assert only_gains.mean() == both.mean()
    assert results[0][2] < 0.05 < results[1][2]
