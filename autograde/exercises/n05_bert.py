"""Notebook 05, BERT: its exercises in order. What a student sees of them stands in solutions/05_bert.py."""

from autograde.exercises.n05_heads import MLM_HEAD, NSP_HEAD, PARAMETER_COUNT, POOLER
from autograde.exercises.n05_model import BERT, ETRANSFORMER, FINAL_LAYERS
from autograde.exercises.n05_published import FILL_IN, LOAD_PUBLISHED, PUBLISHED_NAME

EXERCISES = (
    FINAL_LAYERS,
    ETRANSFORMER,
    POOLER,
    BERT,
    MLM_HEAD,
    NSP_HEAD,
    PARAMETER_COUNT,
    PUBLISHED_NAME,
    LOAD_PUBLISHED,
    FILL_IN,
)
