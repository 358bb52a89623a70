"""The score of a whole sentence: how likely a model finds it, by what the model was trained to predict.

A masked model predicts each token from all others: its score is the pseudo-log-likelihood (`pseudo_likelihood`). A
language model in each direction (Peters et al. 2018, "Deep contextualized word representations", section 3.1)
predicts each token twice, from the tokens before it and from those behind it. Its score is the paper's objective, the
sum of both log-probabilities over all tokens.

Letters: B texts, T tokens, V vocabulary.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bertlab.analysis.pseudo_likelihood import MASKINGS, TokenRow, chosen_ones, pseudo_log_likelihood, token_rows
from bertlab.common.errors import DataError
from bertlab.families.abilities import check_predicts_neighbours, predicts_neighbours
from bertlab.tokenizers.wordpiece.encoding import text_inputs


def sentence_scores(
    model, tokenizer, texts: Sequence[str], *, masking: str = "token", batch_size: int = 256
) -> np.ndarray:
    """The score of each text: `directions_log_likelihood` or `pseudo_log_likelihood`. Returns (texts,) float64.

    Arguments as in `pseudo_log_likelihood`. Raises what these two raise, and DataError for another masking than
    "token" with a model that needs no masks.
    """
    if not predicts_neighbours(model.config):
        return pseudo_log_likelihood(model, tokenizer, texts, masking=masking, batch_size=batch_size)
    if masking != MASKINGS[0]:
        raise DataError(
            f"masking {masking!r}: a model of {model.config.model_type} predicts each token from its left and from its "
            "right, without masks; leave it out"
        )
    return directions_log_likelihood(model, tokenizer, texts, batch_size=batch_size)


def directions_log_likelihood(
    model,
    tokenizer,
    texts: Sequence[str],
    *,
    batch_size: int = 256,
    advance: Callable[[int], object] = lambda texts: None,
) -> np.ndarray:
    """Σ log p(token | those before it) + log p(token | those behind it), for each text. Returns (texts,) float64.

    The tokens [CLS] and [SEP] around the text are read but not predicted, as in `pseudo_log_likelihood`: in rows that
    hold parts of documents they are not the ends of sentences.

    Args:
        model: a `PreTrainingModel` that predicts both neighbours of a token.   tokenizer: its tokenizer.
        batch_size: tokens that the model reads together, at least one text. It does not change the result.
        advance: called with the number of texts that were read.

    Raises DataError, with the number of the text, for a text without tokens or with more than the model reads;
    ConfigError for a model that predicts no neighbours.
    """
    check_predicts_neighbours(model.config)
    rows = token_rows(tokenizer, texts, model.config.max_tokens)
    sums = np.zeros(len(rows))
    for chosen in _batches(rows, batch_size):
        sums[chosen] = _log_probabilities(model, [rows[i] for i in chosen], tokenizer.vocabulary)
        advance(len(chosen))
    return sums


def _batches(rows: Sequence[TokenRow], tokens: int) -> Iterator[list[int]]:
    """The numbers of the rows, rows of similar length together, so many tokens (with padding) at a time."""
    chosen: list[int] = []
    for i in sorted(range(len(rows)), key=lambda i: len(rows[i].ids)):
        if chosen and (len(chosen) + 1) * len(rows[i].ids) > tokens:
            yield chosen
            chosen = []
        chosen.append(i)
    if chosen:
        yield chosen


def _log_probabilities(model, rows: Sequence[TokenRow], vocabulary) -> np.ndarray:
    """The sum of both directions' log-probabilities of each row, (B,) float64."""
    from keras import ops

    inputs = text_inputs(vocabulary, [row.ids for row in rows], model.config.pad_token_id)
    ids, scored = inputs["input_ids"], np.zeros(inputs["input_ids"].shape, bool)
    for i, row in enumerate(rows):
        scored[i, : len(row.ids)] = np.asarray(row.words) >= 0
    logits = ops.cast(model(inputs, training=False)["masked_lm_logits"], "float32")  # (B, T, 2, V)
    logs = ops.log_softmax(logits, axis=-1)
    after = chosen_ones(logs[:, :-1, 0], ids[:, 1:])  # (B, T − 1): at each token, the next one
    before = chosen_ones(logs[:, 1:, 1], ids[:, :-1])  # (B, T − 1): at each token, the one before
    return (after * scored[:, 1:] + before * scored[:, :-1]).sum(axis=1)
