"""The score of a whole sentence: how likely a model finds it, by what the model was trained to predict.

A masked model has no probability for a sentence. For its pseudo-log-likelihood each token is masked in turn and
predicted from all the others, and the log-probabilities are added up (Salazar et al. 2020, "Masked Language Model
Scoring", section 2). A word of several tokens then is too easy, since its other tokens give it away. With
masking="word-left-to-right" the tokens to its right in the same word are masked too (Kauf and Ivanova 2023, "A Better
Way to Do Masked Language Model Scoring").

A language model in each direction (Peters et al. 2018, "Deep contextualized word representations", section 3.1)
predicts each token twice, from the tokens before it and from those behind it. Its score is the sum of both
log-probabilities over all tokens.

Letters: B batch, T tokens, N masked copies of all texts, V vocabulary.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from bertlab.common.errors import DataError
from bertlab.families import check_fills_masks, check_predicts_neighbours, family_of
from bertlab.tokenizers.wordpiece.encoding import text_inputs, with_specials

MASKINGS = ("token", "word-left-to-right")


class TokenRow(NamedTuple):
    """One text with [CLS] and [SEP]. words: (T,) the number of each token's word; −1 for [CLS] and [SEP]."""

    ids: list[int]
    words: list[int]


class Copies(NamedTuple):
    """B masked copies of texts of about the same length, each with one token to predict.

    inputs: the model's.   texts, targets: (B,) the text's number, and the id of the token.
    """

    inputs: dict[str, np.ndarray]
    texts: np.ndarray
    targets: np.ndarray


def pseudo_log_likelihood(
    model, tokenizer, texts: Sequence[str], *, masking: str = "token", batch_size: int = 256
) -> np.ndarray:
    """The sum of the natural logarithms of every token's probability, for each text. Returns (texts,) float64.

    The tokens [CLS] and [SEP] around the text are seen but not predicted. Sums of texts with different numbers of
    tokens are not comparable as such: the longer one has more terms.

    Args:
        model: a `PreTrainingModel` that reads in both directions.   tokenizer: its tokenizer.
        masking: "token" masks one token at a time; "word-left-to-right" also those to its right in the same word.
        batch_size: masked copies of texts that the model reads together. It does not change the result.

    Raises DataError, with the number of the text, for a text without tokens or with more than the model has positions,
    for an unknown masking and for a model that reads left to right.

    Example:
        good, bad = pseudo_log_likelihood(model, tokenizer, ["The dogs bark.", "The dogs barks."])
    """
    from keras import ops

    if masking not in MASKINGS:
        raise DataError(f"unknown masking {masking!r}; choose one of {', '.join(MASKINGS)}")
    check_fills_masks(model.config)
    if model.config.causal:
        raise DataError("expected a model that reads in both directions, got one that reads left to right")
    rows = token_rows(tokenizer, texts, model.config.max_tokens)
    sums = np.zeros(len(rows))
    for copies in masked_copies(rows, tokenizer.vocabulary, model.config.pad_token_id, masking, batch_size):
        logits = ops.cast(model(copies.inputs, training=False)["masked_lm_logits"][:, 0], "float32")  # (B, V)
        np.add.at(sums, copies.texts, chosen_ones(ops.log_softmax(logits, axis=-1), copies.targets))
    return sums


def token_rows(tokenizer, texts: Sequence[str], longest: int) -> list[TokenRow]:
    """The tokens of each text. Raises DataError for a text with no token or with more than `longest`."""
    vocabulary, rows = tokenizer.vocabulary, []
    for number, text in enumerate(texts, 1):
        encoding = tokenizer.encode_with_offsets(text)
        ids = with_specials(vocabulary, encoding.ids.tolist())
        if len(ids) == 2:
            raise DataError(f"text {number}: expected at least one token, got {text!r}; write a text")
        if len(ids) > longest:
            raise DataError(
                f"text {number}: expected at most {longest} tokens, with [CLS] and [SEP], got {len(ids)}: shorten "
                f"{text[:40]!r}…"
            )
        words = encoding.word_ids.tolist()
        rows.append(TokenRow(ids, [*words, -1, -1] if vocabulary.cls_last else [-1, *words, -1]))
    return rows


def masked_copies(rows: Sequence[TokenRow], vocabulary, pad_id: int, masking: str, batch_size: int) -> Iterator[Copies]:
    """All masked copies of all texts, texts of similar length together, `batch_size` at a time."""
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].ids))
    row_positions = [(i, position) for i in order for position, word in enumerate(rows[i].words) if word >= 0]
    for start in range(0, len(row_positions), batch_size):
        chosen = row_positions[start : start + batch_size]
        inputs = text_inputs(vocabulary, [rows[i].ids for i, _ in chosen], pad_id)
        for ids, (i, position) in zip(inputs["input_ids"], chosen):
            ids[position] = vocabulary.mask_id
            if masking == "word-left-to-right":  # the later ones of the same word too
                words = np.array(rows[i].words)
                ids[position : len(words)][words[position:] == words[position]] = vocabulary.mask_id
        texts, positions = (np.array(values) for values in zip(*chosen, strict=True))
        targets = np.array([rows[i].ids[position] for i, position in chosen])
        yield Copies(inputs | {"masked_lm_positions": positions[:, None].astype("int32")}, texts, targets)


def chosen_ones(logs, ids: np.ndarray) -> np.ndarray:
    """The log-probabilities of the ids. logs: (…, V), ids: (…) → (…) float64."""
    from keras import ops

    picked = ops.take_along_axis(logs, ops.convert_to_tensor(ids[..., None].astype("int32")), axis=-1)  # (…, 1)
    return ops.convert_to_numpy(picked)[..., 0].astype("float64")


def sentence_scores(
    model, tokenizer, texts: Sequence[str], *, masking: str = "token", batch_size: int = 256
) -> np.ndarray:
    """The score of each text: `directions_log_likelihood` or `pseudo_log_likelihood`. Returns (texts,) float64.

    Arguments as in `pseudo_log_likelihood`. Raises what these two raise, and DataError for another masking than
    "token" with a model that needs no masks.
    """
    if not family_of(model.config).both_directions:
        return pseudo_log_likelihood(model, tokenizer, texts, masking=masking, batch_size=batch_size)
    if masking != MASKINGS[0]:
        raise DataError(
            f"masking {masking!r}: a model of {model.config.model_type} predicts each token from its left and from its "
            "right, without masks; leave it out"
        )
    return directions_log_likelihood(model, tokenizer, texts, batch_size=batch_size)


def directions_log_likelihood(model, tokenizer, texts: Sequence[str], *, batch_size: int = 256) -> np.ndarray:
    """Σ log p(token | those before it) + log p(token | those behind it), for each text. Returns (texts,) float64.

    The tokens [CLS] and [SEP] around the text are read but not predicted, as in `pseudo_log_likelihood`: in rows that
    hold parts of documents they are not the ends of sentences.

    Args:
        model: a `PreTrainingModel` that predicts both neighbours of a token.   tokenizer: its tokenizer.
        batch_size: tokens that the model reads together, at least one text. It does not change the result.

    Raises DataError, with the number of the text, for a text without tokens or with more than the model reads;
    ConfigError for a model that predicts no neighbours.
    """
    check_predicts_neighbours(model.config)
    rows = token_rows(tokenizer, texts, model.config.max_tokens)
    sums = np.zeros(len(rows))
    for chosen in _batches(rows, batch_size):
        sums[chosen] = _log_probabilities(model, [rows[i] for i in chosen], tokenizer.vocabulary)
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
