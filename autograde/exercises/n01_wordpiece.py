"""Notebook 01, WordPiece: its exercises in order. What a student sees of them stands in solutions/01_wordpiece.py."""

from autograde.exercises.n01_learning import COUNT_PAIRS, LEARN_VOCABULARY, MERGE_PAIR, PAIR_SCORES
from autograde.exercises.n01_packing import PACK, TRUNCATE_PAIR
from autograde.exercises.n01_pieces import TOKENIZE, WORDPIECE
from autograde.exercises.n01_text import BASIC_TOKENIZE, CLEAN_TEXT, SPLIT_PUNCTUATION, STRIP_ACCENTS

EXERCISES = (
    CLEAN_TEXT,
    STRIP_ACCENTS,
    SPLIT_PUNCTUATION,
    BASIC_TOKENIZE,
    WORDPIECE,
    TOKENIZE,
    COUNT_PAIRS,
    PAIR_SCORES,
    MERGE_PAIR,
    LEARN_VOCABULARY,
    TRUNCATE_PAIR,
    PACK,
)
