"""Attention weights of a text, ready to plot."""

import numpy as np

from bertlab.families.abilities import check_attends


def attention_maps(encoder, tokenizer, text: str) -> tuple[list[str], np.ndarray]:
    """The tokens of a text, [CLS] and [SEP] included, and each head's weights: (layers, A, T, T) float32.

    encoder: a `Backbone`.   tokenizer: its tokenizer; [MASK] in the text is the special token.
    Row t of a map holds how much token t attends to each token; it sums to 1.
    Raises ConfigError for a model without attention.
    """
    from keras import ops

    check_attends(encoder.config)
    vocabulary = tokenizer.vocabulary
    row = tokenizer.pack(tokenizer.encode(text, special_tokens=True))
    inputs = {name: row[name][None] for name in ("input_ids", "token_type_ids")}
    outputs = encoder(inputs, training=False, return_all=True)
    maps = np.stack([ops.convert_to_numpy(weights)[0] for weights in outputs["attentions"]])
    return [vocabulary.pieces[i] for i in row["input_ids"]], maps
