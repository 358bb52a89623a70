"""The points of a pre-training run: its loss, its accuracy, and what it gains from the context."""

import numpy as np
import pytest

from autograde.exercises import notebooks, runs
from autograde.grader.grading import training_runs


def _rows_and_logits(rng, right: float):
    """Rows with 40 blanks, and logits that predict the true token in this fraction of them."""
    labels = rng.integers(0, 50, size=(10, 5))
    weights = np.repeat([[1.0, 1.0, 1.0, 1.0, 0.0]], 10, axis=0)
    logits = rng.normal(size=(10, 5, 50)).astype("float32")
    for number, place in enumerate(np.argwhere(weights > 0)):
        logits[tuple(place)][labels[tuple(place)]] = 9 if number < 40 * right else -9
    return {"masked_lm_ids": labels, "masked_lm_weights": weights}, logits


def test_loss_and_accuracy_count_blanks_only():
    rows, logits = _rows_and_logits(np.random.default_rng(2), right=0.25)
    loss, accuracy, context = training_runs.metrics(logits, rows)
    assert accuracy == 0.25
    expected = [
        np.log(np.exp(logits[place].astype("float64")).sum()) - logits[place][rows["masked_lm_ids"][place]]
        for place in np.ndindex(10, 5)
        if rows["masked_lm_weights"][place]
    ]
    assert loss == pytest.approx(np.mean(expected), abs=1e-6)
    real = rows["masked_lm_weights"] > 0
    elsewhere = [  # every prediction at the label of every masked position
        np.log(np.exp(row.astype("float64")).sum()) - row[label]
        for row in logits[real]
        for label in rows["masked_lm_ids"][real]
    ]
    assert context == pytest.approx(np.mean(elsewhere) - loss, abs=1e-6)


def test_a_constant_prediction_gains_nothing_from_the_context_however_good_it_is():
    rows, logits = _rows_and_logits(np.random.default_rng(2), right=0.25)
    real = rows["masked_lm_weights"] > 0
    frequencies = np.bincount(rows["masked_lm_ids"][real], minlength=50) + 1e-3
    constant = np.broadcast_to(np.log(frequencies / frequencies.sum()), logits.shape)
    loss, _, context = training_runs.metrics(constant, rows)
    assert loss < np.log(50) and context == pytest.approx(0, abs=1e-9)
    (run,) = runs.of_notebook("07_pretraining")
    assert sum(mark.points for mark in run.marks if mark.earned(1.0, 1.0, context, baseline=6.34)) == 0


def test_one_prediction_that_holds_a_token_for_impossible_is_no_gain_from_the_context():
    """First seen to earn two points at 8bb5020d: one token, excluded at one place, was a gain of any size."""
    rows, logits = _rows_and_logits(np.random.default_rng(2), right=0.25)
    constant = np.zeros_like(logits)
    label = rows["masked_lm_ids"][0, 0]
    constant[0, 0, next(other for other in rows["masked_lm_ids"][1:, 0] if other != label)] = -1e30
    loss, _, context = training_runs.metrics(constant, rows)
    assert loss < 4 and abs(context) < 0.05


@pytest.mark.parametrize(
    ("loss", "accuracy", "context", "points"),
    [(8.3, 0.0, 0.0, 0), (6.5, 0.01, 0.1, 0), (6.3, 0.01, 0.3, 4), (6.5, 0.5, 0.3, 0), (6.3, 0.08, 0.3, 6),
     (6.2, 0.08, 0.0, 0), (6.2, 0.08, 0.1, 6), (6.2, 0.08, 0.07, 4), (6.2, 0.08, 0.03, 2), (float("nan"), 0.5, 1.0, 0),
     (6.2, 0.08, float("nan"), 0)],
)  # fmt: skip
def test_a_runs_points_follow_the_thresholds_that_the_notebook_states(loss, accuracy, context, points):
    (run,) = runs.of_notebook("07_pretraining")
    assert sum(mark.points for mark in run.marks if mark.earned(loss, accuracy, context, baseline=6.34)) == points
    text = (notebooks.SOLUTIONS / "07_pretraining.py").read_text(encoding="utf-8")
    assert '"grade_id": "pretraining-run", "locked": true, "points": 6,' in text and run.points == 6
    assert f"loss of at most {run.marks[-1].loss:g}" in text.replace("\n# ", " ")
    for mark in run.marks:
        assert f"{mark.context:g}" in text
    assert f"at least {run.marks[-1].accuracy:.0%}".replace("%", " %") in text
