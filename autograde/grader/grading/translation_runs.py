"""Grades a translator: weights from a file → the course's own Transformer → translations of hidden sentences → points.

    file ─▶ read_weights (nothing is run, nothing is trusted) ─▶ the reference of the exercise `transformer`, in NumPy
    hidden sources of the small world ─▶ exactly right translations ─▶ points by the run's marks

The student's own code is not needed: a run starts when its exercises have passed, so that model and reference agree.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from autograde.boundary.weights_file import TRANSLATION, Weights, WeightsError, read_weights
from autograde.exercises.n13_decoder.transformer import transformer
from autograde.exercises.runs import TrainingRun, TranslationRun
from autograde.grader.book.course import hidden_number
from autograde.judging.verdict import PartResult, Verdict
from autograde.student.translation_run import LONG, PAD, START
from bertlab.data import small_world

_AT_ONCE = 100  # sentences


def grade_translation(run: TranslationRun, folder: Path, secret: bytes, student: str, attempt: str = "") -> Verdict:
    """The verdict on one file."""
    try:
        weights = read_weights(folder / run.file, TRANSLATION)
        _check_fit(run, weights)
    except WeightsError as reason:
        return not_accepted(run, folder, reason)
    share = exactly_right(weights, *hidden_pairs(run, secret, student, attempt))
    marks = [(mark, share >= mark.share, f"needs {mark.share:.0%}") for mark in run.marks]
    said = f"{share:.0%} of the translations of {run.sentences} hidden sentences are exactly right"
    return verdict_by_marks(run, marks, said)


def not_accepted(run: TrainingRun | TranslationRun, folder: Path, reason: WeightsError) -> Verdict:
    """No points, since there is no file of weights, or one that does not fit the run."""
    status = "refused" if (folder / run.file).exists() else "missing"
    sentence = f"{reason}. Hand in {run.file} together with the notebook; `hand_in` writes it."
    return Verdict(run.id, run.label, status, 0.0, run.points, advice=(sentence,))


def verdict_by_marks(run: TrainingRun | TranslationRun, marks: Sequence[tuple], said: str, *notes: str) -> Verdict:
    """The points of the marks that were earned. marks: (mark, whether it is earned, what it needs)."""
    parts = tuple(
        PartResult(mark.name, mark.points if is_earned else 0.0, mark.points, needs) for mark, is_earned, needs in marks
    )
    points = sum(part.points for part in parts)
    status = "passed" if points == run.points else "partly" if points else "wrong"
    return Verdict(run.id, run.label, status, points, run.points, parts=parts, facts=(("metrics", said),), notes=notes)


def _check_fit(run: TranslationRun, weights: Weights) -> None:
    tokens = len(small_world.translation_tokens())
    if weights.config["vocab_size"] != tokens:
        raise WeightsError(f"{run.file}: expected the {tokens} tokens of the small world and its mirror, got "
                           f"{weights.config['vocab_size']}")  # fmt: skip
    if weights.config["hidden_size"] % 2:
        raise WeightsError(f"{run.file}: expected an even hidden_size, got {weights.config['hidden_size']}")
    if weights.are_untrained:
        raise WeightsError(f"{run.file} has the weights of an untrained model")


def hidden_pairs(run: TranslationRun, secret: bytes, student: str, attempt: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Sources (N, S) and targets (N, U) of 9 to 16 words, which cannot be known without the secret."""
    seed = hidden_number(secret, 4, student, run.notebook, run.id, attempt)
    drawn = small_world.sample(seed, 20 * run.sentences)
    chosen = [sentence for sentence in drawn if LONG[0] <= len(sentence) <= LONG[1]][: run.sentences]
    return small_world.translation_rows(chosen)


def exactly_right(weights: Weights, sources: np.ndarray, targets: np.ndarray) -> float:
    """The fraction of the sources whose translation is right in every token.

    The most probable token after each right beginning is compared: where all agree, a model that writes token after
    token makes the same choices.
    """
    read = np.concatenate([np.full_like(targets[:, :1], START), targets[:, :-1]], axis=1)
    arrays = {role: array.astype("float64") for role, array in weights.arrays.items()}
    right = []
    with np.errstate(all="ignore"):  # absurd weights give NaN, and with it a wrong token
        for first in range(0, len(sources), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            logits = transformer(sources[part], read[part], weights=arrays, config=weights.config)  # (n, U, V)
            hits = (logits.argmax(axis=-1) == targets[part]) & np.isfinite(logits).all(axis=-1)
            right.append((hits | (targets[part] == PAD)).all(axis=1))
    return float(np.concatenate(right).mean())
