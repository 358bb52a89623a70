"""Notebook 08, fine-tuning: its exercises in order. What a student sees of them is in solutions/08_finetuning.py."""

from autograde.exercises.n08_rates import LAYER_RATES
from autograde.exercises.n08_spans import BEST_SPAN, SPAN_HEAD, SPAN_SCORES
from autograde.exercises.n08_texts import CHOICE_LOGITS, CLS_HEAD, F1_MATTHEWS, SPEARMAN
from autograde.exercises.n08_tokens import ALIGN_LABELS, TAGGING_LOSS

EXERCISES = (
    CLS_HEAD,
    F1_MATTHEWS,
    CHOICE_LOGITS,
    SPEARMAN,
    ALIGN_LABELS,
    TAGGING_LOSS,
    SPAN_HEAD,
    BEST_SPAN,
    SPAN_SCORES,
    LAYER_RATES,
)
