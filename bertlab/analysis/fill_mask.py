"""Fill-mask: the tokens that the masked LM head predicts at a [MASK]."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bertlab.common.errors import DataError
from bertlab.families import check_fills_masks


@dataclass(frozen=True)
class TokenPrediction:
    """A token predicted for a [MASK], with its probability."""

    piece: str
    probability: float


def predicted_probabilities(model, inputs: dict, tokens: int | None = None) -> np.ndarray:
    """The probabilities of a masked-LM head, (B, P, V) float32. inputs: of a `PreTrainingModel`.

    tokens: of the vocabulary, V; None: as many as the table has rows, some of which may be padding.
    """
    from keras import ops

    logits = model(inputs, training=False)["masked_lm_logits"][..., :tokens]
    return ops.convert_to_numpy(ops.softmax(ops.cast(logits, "float32"), axis=-1))


def most_likely(probabilities: np.ndarray, pieces: Sequence[str], top_k: int) -> list[list[TokenPrediction]]:
    """The `top_k` most likely tokens of each row, best first. probabilities: (P, V)."""
    best = np.argsort(-probabilities, axis=-1, kind="stable")[:, :top_k]  # (P, k)
    return [
        [TokenPrediction(pieces[i], float(row[i])) for i in top] for row, top in zip(probabilities, best, strict=True)
    ]


def fill_mask(model, tokenizer, text: str, top_k: int = 5) -> list[list[TokenPrediction]]:
    """The `top_k` most likely tokens for each [MASK] of a text, best first; one list per [MASK], in reading order.

    model: a `PreTrainingModel`.   tokenizer: its tokenizer.
    Raises DataError for a text without [MASK] or with more tokens than the model has positions, ConfigError for a
    model that predicts the neighbours of a token.
    """
    check_fills_masks(model.config)
    vocabulary = tokenizer.vocabulary
    row = tokenizer.pack(tokenizer.encode(text, special_tokens=True))
    ids = row["input_ids"].tolist()
    blanks = [i for i, piece in enumerate(ids) if piece == vocabulary.mask_id]
    if not blanks:
        raise DataError(f"no [MASK] in {text!r}: write [MASK] where the model should predict a word")
    limit = model.config.max_tokens
    if len(ids) > limit:
        raise DataError(f"expected at most {limit} tokens, got {len(ids)}: shorten the text")

    inputs = {name: row[name][None] for name in ("input_ids", "token_type_ids")}
    inputs["masked_lm_positions"] = np.array([blanks], "int32")
    probabilities = predicted_probabilities(model, inputs, len(vocabulary))[0]  # (blanks, V)
    return most_likely(probabilities, vocabulary.pieces, top_k)
