"""Notebook 03, attention: its exercises in order. What a student sees of them stands in solutions/03_attention.py."""

from autograde.exercises.n03_heads import CROSS_ATTENTION, MH_ATTENTION, MULTI_HEAD_LAYER
from autograde.exercises.n03_masks import CAUSAL_MASK, MASKED_ATTENTION, PADDING_MASK
from autograde.exercises.n03_one_head import ADD_TO_ROWS, ATTENTION, CONCAT_HEADS, SCORES, SOFTMAX_ROWS

EXERCISES = (
    CONCAT_HEADS,
    ADD_TO_ROWS,
    SOFTMAX_ROWS,
    SCORES,
    ATTENTION,
    PADDING_MASK,
    CAUSAL_MASK,
    MASKED_ATTENTION,
    MH_ATTENTION,
    MULTI_HEAD_LAYER,
    CROSS_ATTENTION,
)
