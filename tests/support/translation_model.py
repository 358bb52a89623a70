"""A small encoder–decoder with random weights whose targets differ, its tokenizer, and sources for it."""

import numpy as np

from bertlab import models
from bertlab.families import TransformerConfig
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

TOKENIZER = WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *"a b c d e f g h".split()]))
START, END = TOKENIZER.vocabulary.cls_id, TOKENIZER.vocabulary.sep_id
SOURCES = [[5, 9, 7, END], [8, END], [6, 6, 10, 11, 12, 5, END]]


def random_model(config=TransformerConfig, **changes):
    small = dict(vocab_size=len(TOKENIZER.vocabulary), hidden_size=16, num_layers=2, decoder_layers=2, num_heads=2,
                 intermediate_size=24, max_position_embeddings=40)  # fmt: skip
    model = models.SequenceToSequenceModel(config(**(small | changes)))
    rng = np.random.default_rng(0)
    deviations = {"cross_attention": 0.3, "feed_forward": 0.5}  # so that targets differ, and are not one token only
    for variable in model.weights:
        if variable.name == "kernel":
            variable.assign(rng.normal(0, deviations.get(variable.path.split("/")[-3], 1.0), variable.shape))
    table = rng.normal(size=(small["vocab_size"], 16))  # of equal lengths: else the longest would always be chosen
    model.backbone.embeddings.token.embeddings.assign(0.4 * table / np.linalg.norm(table, axis=1, keepdims=True))
    return model
