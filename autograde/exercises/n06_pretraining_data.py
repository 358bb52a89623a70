"""Notebook 06, pre-training data: its exercises in order. Students see solutions/06_pretraining_data.py."""

from autograde.exercises.n06_batches import BATCHES, MAKE_EXAMPLE
from autograde.exercises.n06_masks import CHOOSE_POSITIONS, MASK_EACH, MASK_TOKENS, NUMBER_OF_PREDICTIONS
from autograde.exercises.n06_pairs import MAKE_PAIR, TRUNCATE
from autograde.exercises.n06_words import CHOOSE_WORDS, WHOLE_WORDS

EXERCISES = (
    MASK_EACH,
    NUMBER_OF_PREDICTIONS,
    CHOOSE_POSITIONS,
    MASK_TOKENS,
    WHOLE_WORDS,
    CHOOSE_WORDS,
    MAKE_PAIR,
    TRUNCATE,
    MAKE_EXAMPLE,
    BATCHES,
)
