"""The logit lens: the masked-LM head on the hidden states of every layer.

The head was trained for the last layer. On an earlier one it shows which words the model would predict if the layers
above were left out, and so in which layer a prediction appears (nostalgebraist 2020, "interpreting GPT: the logit
lens", here for a masked LM).

Letters: L layers, T tokens, P positions, H hidden size, V vocabulary.
"""

from collections.abc import Sequence

import numpy as np

from bertlab.analysis.fill_mask import TokenPrediction, most_likely
from bertlab.analysis.readings import read_text
from bertlab.common.errors import DataError
from bertlab.families import check_fills_masks


def check_has_head(model) -> None:
    """Raises DataError for a model without a masked-LM head."""
    if getattr(model, "masked_lm_head", None) is None:
        raise DataError(f"expected a model with a masked-LM head, got {type(model).__name__}; load it as pretraining")


def lens_probabilities(model, states: np.ndarray, tokens: int | None = None) -> np.ndarray:
    """The head's probabilities at every layer. states: (L + 1, P, H), the last as the model outputs it → (L + 1, P, V).

    Of a model that predicts both neighbours of a token → (L + 1, P, 2, V): the next token and the one before.

    tokens: of the vocabulary, V; None: as many as the table has rows, some of which may be padding.
    model: a `PreTrainingModel`. In a pre-LN model the encoder's last LayerNorm comes before the head at every layer.
    Raises DataError for a model without a masked-LM head.
    """
    from keras import ops

    check_has_head(model)
    final_norm = getattr(model.backbone.encoder, "final_norm", None)
    probabilities = []
    for layer, state in enumerate(states):
        x = ops.convert_to_tensor(state[None])  # (1, P, H)
        if final_norm is not None and layer < len(states) - 1:
            x = final_norm(x)
        logits = ops.cast(model.token_logits(x)[..., :tokens], "float32")  # (1, P, V) or (1, P, 2, V)
        probabilities.append(ops.convert_to_numpy(ops.softmax(logits, axis=-1))[0])
    return np.stack(probabilities)


def logit_lens(
    model, tokenizer, text: str, positions: Sequence[int] | None = None, top_k: int = 5
) -> list[list[list[TokenPrediction]]]:
    """The `top_k` most likely tokens by layer (0: the embeddings) and position, best first.

    Args:
        model, tokenizer: as in `lens_probabilities`, and its tokenizer.
        text: [MASK] in it is the special token.   positions: of tokens, [CLS] is 0; default: those of [MASK].

    Raises DataError for a model without a masked-LM head, a text without [MASK] where no positions are given, and for
    an empty or too long text; ConfigError for a model that predicts nothing at [MASK].

    Example:
        for layer, blanks in enumerate(logit_lens(model, tokenizer, "He opened the [MASK] and went in.")):
            print(layer, blanks[0][0])
    """
    check_fills_masks(model.config)
    reading = read_text(model.backbone, tokenizer, text)
    if positions is None:
        positions = np.flatnonzero(reading.ids == tokenizer.vocabulary.mask_id)
        if not len(positions):
            raise DataError(f"no [MASK] in {text!r}: write one, or give positions")
    pieces = tokenizer.vocabulary.pieces
    states = reading.states[:, np.asarray(positions)]  # (L + 1, P, H)
    probabilities = lens_probabilities(model, states, len(pieces))  # (L + 1, P, V)
    return [most_likely(rows, pieces, top_k) for rows in probabilities]
