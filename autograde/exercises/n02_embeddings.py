"""Notebook 02, embeddings: its exercises in order. What a student sees of them stands in solutions/02_embeddings.py."""

from autograde.exercises.n02_inputs import BERT_EMBEDDINGS, INPUT_EMBEDDINGS, SEGMENT_IDS
from autograde.exercises.n02_positions import LEARNED_POSITIONS, POSITION_SIMILARITY, SINUSOIDS
from autograde.exercises.n02_tokens import TOKEN_EMBEDDINGS, UNSHUFFLE

EXERCISES = (
    TOKEN_EMBEDDINGS,
    UNSHUFFLE,
    SINUSOIDS,
    POSITION_SIMILARITY,
    LEARNED_POSITIONS,
    SEGMENT_IDS,
    INPUT_EMBEDDINGS,
    BERT_EMBEDDINGS,
)
