"""The points of a training run: a translator's weights, and the loss, accuracy and gain from the context of a
pre-trained model."""

import json

import numpy as np
import pytest

from autograde.boundary.roles import transformer_shapes
from autograde.boundary.weights_file import TRANSLATION, Weights, read_weights
from autograde.exercises import notebooks, runs
from autograde.exercises.n13_decoder.transformer import transformer
from autograde.grader.grading import training_runs
from autograde.grader.grading.results import Result
from autograde.grader.grading.whose_weights import with_doubts
from autograde.student.translation_run import END, PAD, START
from bertlab.data import small_world

(RUN,) = runs.of_notebook("13_decoder")
CONFIG = {"vocab_size": len(small_world.translation_tokens()), "hidden_size": 8, "num_layers": 2, "num_heads": 2,
          "intermediate_size": 12}  # fmt: skip


def weights(seed=3, **changed) -> Weights:
    """Random numbers; those of the vectors are not the initial ones."""
    rng, config = np.random.default_rng(seed), CONFIG | changed
    arrays = {role: rng.normal(size=shape).astype("float32") for role, shape in transformer_shapes(config).items()}
    return Weights(config, arrays)


def write(folder, made: Weights):
    from safetensors.numpy import save

    folder.mkdir(parents=True, exist_ok=True)
    (folder / RUN.file).write_bytes(save(made.arrays, {"config": json.dumps(made.config)}))
    return folder


def written_by(made: Weights, sources: np.ndarray, tokens: int) -> np.ndarray:
    """The tokens that the model itself writes, one after the other."""
    row = np.full((len(sources), 1), START)
    for _ in range(tokens):
        logits = transformer(sources, row, weights=made.arrays, config=made.config)
        logits[..., PAD] = -np.inf  # padding would not count
        row = np.concatenate([row, logits[:, -1:].argmax(axis=-1)], axis=1)
    return row[:, 1:]


def test_sentences_that_the_model_writes_token_by_token_are_those_that_are_right():
    made = weights()
    sources, _ = training_runs.hidden_pairs(RUN, b"secret", "ada")
    targets = written_by(made, sources[:6], 5)
    assert training_runs.exactly_right(made, sources[:6], targets) == 1
    targets[2, 3] = END if targets[2, 3] != END else START
    assert training_runs.exactly_right(made, sources[:6], targets) == pytest.approx(5 / 6)


def test_hidden_sentences_are_long_and_differ_between_students():
    sources, targets = training_runs.hidden_pairs(RUN, b"secret", "ada")
    words = (sources > END).sum(axis=1)
    assert len(sources) == len(targets) == RUN.sentences and 9 <= words.min() and words.max() <= 16
    assert not np.array_equal(sources, training_runs.hidden_pairs(RUN, b"secret", "bob")[0])
    assert np.array_equal(sources, training_runs.hidden_pairs(RUN, b"secret", "ada")[0])


def test_random_weights_are_graded_and_earn_nothing(tmp_path):
    verdict = training_runs.grade_translation(RUN, write(tmp_path, weights()), b"secret", "ada")
    assert (verdict.status, verdict.points, verdict.max_points) == ("wrong", 0, 6)
    assert "0% of the translations of 300 hidden sentences" in dict(verdict.facts)["metrics"]


def test_marks_are_earned_one_by_one(tmp_path, monkeypatch):
    write(tmp_path, weights())
    for share, points in ((0.19, 0), (0.2, 2), (0.59, 4), (0.6, 6)):
        monkeypatch.setattr(training_runs, "exactly_right", lambda *_, share=share: share)
        assert training_runs.grade_translation(RUN, tmp_path, b"secret", "ada").points == points


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"vocab_size": 30}, "expected the 218 tokens of the small world and its mirror, got 30"),
        ({"hidden_size": 9, "num_heads": 3}, "expected an even hidden_size, got 9"),
        ({"hidden_size": 512}, "expected hidden_size from 1 to 256, got 512"),
    ],
)
def test_other_models_are_refused_with_the_reason(tmp_path, changed, reason):
    verdict = training_runs.grade_translation(RUN, write(tmp_path, weights(**changed)), b"secret", "ada")
    assert verdict.status == "refused" and reason in verdict.advice[0]


def test_untrained_weights_and_a_missing_file_earn_nothing(tmp_path):
    fresh = weights()
    for role, array in fresh.arrays.items():
        if array.ndim == 1:
            array[:] = role.endswith("gamma")
    verdict = training_runs.grade_translation(RUN, write(tmp_path, fresh), b"secret", "ada")
    assert verdict.status == "refused" and "untrained" in verdict.advice[0]
    missing = training_runs.grade_translation(RUN, tmp_path / "nothing", b"secret", "ada")
    assert missing.status == "missing" and "does not exist" in missing.advice[0]


def test_weights_that_overflow_are_wrong_and_stop_nothing(tmp_path):
    large = weights()
    for array in large.arrays.values():
        array *= 1e30
    verdict = training_runs.grade_translation(RUN, write(tmp_path, large), b"secret", "ada")
    assert (verdict.status, verdict.points) == ("wrong", 0)


def test_two_students_with_the_same_weights_are_told_to_the_instructor(tmp_path):
    for student, seed in (("ada", 3), ("bob", 3), ("eve", 4)):
        write(tmp_path / "submitted" / student / "ps13", weights(seed))
    results = [Result("ps13", student, "13_decoder") for student in ("ada", "bob", "eve")]
    doubts = [result.doubts for result in with_doubts(results, tmp_path, "ps13")]
    assert "agree with those of bob" in doubts[0][0] and "agree with those of ada" in doubts[1][0] and not doubts[2]


def test_a_file_is_read_as_it_was_written(tmp_path):
    made = weights()
    read = read_weights(write(tmp_path, made) / RUN.file, TRANSLATION)
    assert read.config == made.config and all(
        np.array_equal(read.arrays[role], made.arrays[role]) for role in made.arrays
    )


# --- pre-training ---


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
