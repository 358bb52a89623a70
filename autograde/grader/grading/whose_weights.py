"""Whose weights a file holds: those of the packaged model, or of another student?

Two tables of token embeddings are compared by the angles between their rows. These stay the same when the units of a
model are put in another order, turned or scaled, and when a model has other tokens or another width.
"""

import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

from autograde.boundary.weights_file import TRANSLATION, Weights, WeightsError, read_weights
from autograde.exercises.runs import TrainingRun, TranslationRun, of_notebook
from autograde.grader.book.group_hand_ins import copies
from autograde.grader.grading.results import Result
from autograde.student.training_run import VOCABULARY, vocabulary_of

_COMPARED = 400  # tokens, spread over the vocabulary
# Correlations of the angles. Full runs of notebook 07 have 0.17 with the packaged model, and 0.77 with each other where
# their seeds differ.
_PACKAGED = 0.8
_EQUAL = 0.99
_BECAUSE = "Only runs with one seed, on machines of one kind, come so close to each other: ask both how they trained."


def are_packaged(weights: Weights) -> bool:
    """Whether the rows of the token table are those of the packaged model. The file has the course's vocabulary."""
    from bertlab.checkpoints.packaged import MINI

    packaged_rows = _packaged_table(MINI)[[number for _, number in _compared()]]
    return _alike(_angles(weights), _cosines(packaged_rows)) > _PACKAGED


def with_doubts(
    results: Iterable[Result], course: Path, assignment: str, called: Callable[[str], str] = str
) -> list[Result]:
    """The records of an assignment, with a doubt where students have handed in the same weights of a run, or nearly.

    called: how a student is called on the page. A copy of a group's hand-in is not compared, and no file that cannot be
    read: grading has said why.
    """
    results, copied = list(results), copies(course, assignment)
    for run in {run for result in results for run in of_notebook(result.notebook)}:
        found = {}
        for result in results:
            path = course / "submitted" / result.student / assignment / run.file
            if result.notebook == run.notebook and result.student not in copied and path.exists():
                found |= _read(run, result.student, path)
        for first, second in combinations(sorted(found), 2):
            if found[first].shape == found[second].shape and _alike(found[first], found[second]) > _EQUAL:
                for student, other in ((first, second), (second, first)):
                    said = f"{run.label}: the weights agree with those of {called(other)}. {_BECAUSE}"
                    results = [
                        replace(result, doubts=(*result.doubts, said))
                        if (result.student, result.notebook) == (student, run.notebook)
                        else result
                        for result in results
                    ]
    return results


def _read(run: TrainingRun | TranslationRun, student: str, path: Path) -> dict[str, np.ndarray]:
    """The numbers that are compared: angles, or, where all runs begin with one table, the moves from it."""
    try:
        weights = read_weights(path, TRANSLATION) if isinstance(run, TranslationRun) else read_weights(path)
    except WeightsError:
        return {}
    if isinstance(run, TranslationRun):
        return {student: weights.arrays["token"].ravel()}
    if weights.config["vocab_size"] != len(pieces_of(vocabulary_of(run.starts_from))):
        return {}
    if not run.starts_from:
        return {student: _angles(weights)}
    first = _packaged_table(run.starts_from)
    table = weights.arrays["embeddings/token"]
    return {student: (table - first).ravel()} if table.shape == first.shape else {}


# --- tables ---


def _angles(weights: Weights) -> np.ndarray:
    """The cosines between the rows of the compared tokens, (n (n - 1) / 2,)."""
    table = weights.arrays["embeddings/token"]
    return _cosines(table[[number for number, _ in _compared()]])


@functools.cache
def _packaged_table(name: str) -> np.ndarray:
    from safetensors.numpy import load_file

    from bertlab.checkpoints.packaged import packaged

    return load_file(packaged(name) / "model.safetensors")["bert.embeddings.word_embeddings.weight"].astype("float32")


@functools.cache
def _compared() -> tuple[tuple[int, int], ...]:
    """(row of the course's vocabulary, row of the packaged model's) of tokens that both have."""
    from bertlab.checkpoints.packaged import MINI, packaged

    theirs = {piece: row for row, piece in enumerate(pieces_of(packaged(MINI) / "vocab.txt"))}
    both = [(row, theirs[piece]) for row, piece in enumerate(pieces_of(VOCABULARY)) if piece in theirs]
    return tuple(both[:: len(both) // _COMPARED])


def pieces_of(vocabulary: Path) -> list[str]:
    return vocabulary.read_text(encoding="utf-8").splitlines()


def _cosines(rows: np.ndarray) -> np.ndarray:
    rows = rows.astype("float64")  # (n, H)
    rows -= rows.mean(axis=0)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    return (rows @ rows.T)[np.triu_indices(len(rows), 1)]


def _alike(first: np.ndarray, second: np.ndarray) -> float:
    """The correlation of two tables' angles; 0 where a table's rows are all the same."""
    first, second = first - first.mean(), second - second.mean()
    length = np.linalg.norm(first) * np.linalg.norm(second)
    return float(first @ second / length) if length > 1e-9 else 0.0
