"""Psycholinguistic diagnostics: is the expected word among the likely ones, and likelier than a wrong one?

Ettinger 2020 ("What BERT Is Not: Lessons from a New Suite of Psycholinguistic Diagnostics for Language Models",
section 4) asks two things at a [MASK]: whether the expected word is among the k most likely (word prediction
accuracy), and whether it is likelier than an inappropriate one by some margin (sensitivity). For negation the same two
words change roles: "A robin is a bird" is true, "A robin is not a bird" false.

Letters: N items, V vocabulary.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bertlab.analysis.fill_mask import predicted_probabilities
from bertlab.common.errors import DataError
from bertlab.families import check_fills_masks
from bertlab.tokenizers.wordpiece.encoding import text_inputs, with_specials


class PolarityScores(NamedTuple):
    """Fractions of items in which the true completion is likelier, in affirmative and in negated sentences."""

    affirmative: float
    negated: float


def blank_probabilities(model, tokenizer, texts: Sequence[str], batch_size: int = 64) -> np.ndarray:
    """The probability of every token at the one [MASK] of each text, (N, V) float32.

    model: a `PreTrainingModel`.   tokenizer: its tokenizer.
    Raises DataError, with the number of the text, for a text without exactly one [MASK] or with too many tokens.
    """
    check_fills_masks(model.config)
    vocabulary = tokenizer.vocabulary
    rows = [with_specials(vocabulary, tokenizer.encode(text, special_tokens=True)) for text in texts]
    for number, (row, text) in enumerate(zip(rows, texts, strict=True), 1):
        if row.count(vocabulary.mask_id) != 1:
            raise DataError(f"text {number}: expected one [MASK], got {row.count(vocabulary.mask_id)} in {text!r}")
        if len(row) > model.config.max_tokens:
            raise DataError(f"text {number}: expected at most {model.config.max_tokens} tokens, got {len(row)}")
    found = []
    for start in range(0, len(rows), batch_size):
        inputs = text_inputs(vocabulary, rows[start : start + batch_size], model.config.pad_token_id)
        positions = np.argmax(inputs["input_ids"] == vocabulary.mask_id, axis=1)  # (B,)
        inputs["masked_lm_positions"] = positions.astype("int32")[:, None]
        found.append(predicted_probabilities(model, inputs)[:, 0])
    return np.concatenate(found) if found else np.zeros((0, len(vocabulary)), "float32")


def token_ids(tokenizer, words: Sequence[str], first: bool = False) -> np.ndarray:
    """The id of each word, (N,) int64. first: as the first word of a text, which some vocabularies write otherwise.

    Raises DataError for a word of several tokens, which cannot be filled into one [MASK], and for one that is [UNK].
    """
    ids = []
    for word in words:
        tokens = tokenizer.encode(word if first else tokenizer.word_prefix + word)
        if len(tokens) != 1 or tokens[0] == tokenizer.vocabulary.unk_id:
            found = f"has {len(tokens)} tokens" if len(tokens) != 1 else "is not in the vocabulary"
            raise DataError(f"{word!r} {found}; choose words of one token, or leave the item out")
        ids.append(int(tokens[0]))
    return np.array(ids, "int64")


def ranks(probabilities: np.ndarray, targets: Sequence[int]) -> np.ndarray:
    """The rank of each target among all tokens: 1 + the number of likelier ones. probabilities: (N, V) → (N,) int64.

    Example:
        >>> ranks(np.array([[0.2, 0.5, 0.3], [0.4, 0.4, 0.2]]), [2, 1]).tolist()
        [2, 1]
    """
    chosen = np.take_along_axis(probabilities, np.asarray(targets)[:, None], axis=-1)  # (N, 1)
    return 1 + (probabilities > chosen).sum(axis=-1)


def top_k_accuracy(probabilities: np.ndarray, targets: Sequence[int], k: int = 5) -> float:
    """The fraction of items whose target is among the k most likely tokens (word prediction accuracy)."""
    return float(np.mean(ranks(probabilities, targets) <= k))


def sensitivity(good: np.ndarray, bad: np.ndarray, margin: float = 0.0) -> float:
    """The fraction of items in which the good word's probability is larger, by more than `margin`.

    good, bad: (N,) probabilities.

    Example:
        >>> sensitivity(np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.295, 0.4]), margin=0.01)
        0.3333333333333333
    """
    return float(np.mean(np.asarray(good) - np.asarray(bad) > margin))


def polarity_scores(affirmative: np.ndarray, negated: np.ndarray, margin: float = 0.0) -> PolarityScores:
    """Whether a negation changes the preference.

    affirmative, negated: (N, 2) the probabilities of two words in "A robin is (not) a [MASK]". The first word makes the
    affirmative sentence true, and so the negated one false.

    Example:
        >>> both = np.array([[0.6, 0.1], [0.3, 0.2]])  # "not" changes nothing
        >>> polarity_scores(both, both)
        PolarityScores(affirmative=1.0, negated=0.0)
    """
    return PolarityScores(sensitivity(*affirmative.T, margin), sensitivity(*negated.T[::-1], margin))
