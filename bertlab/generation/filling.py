"""Mask-predict: a masked language model writes several tokens at once, and then the least certain of them again.

    [CLS] the dog [MASK] [MASK] [MASK] [SEP]      all places are predicted,
    [CLS] the dog barked [MASK] [MASK] [SEP]      those of lower probability are masked and predicted again,
    [CLS] the dog barked at [MASK] [SEP]          fewer each time

The number of turns is fixed, and with T turns ⌊N · (T − t) / T⌋ of N positions are masked in turn t = 1 … T − 1
(Ghazvininejad et al. 2019, "Mask-Predict: Parallel Decoding of Conditional Masked Language Models", section 3). There a
second network reads a source text and predicts the length; here the text before the positions is the source, and the
length is given.

Letters: B rows, T tokens, P positions to fill, V vocabulary.
"""

from collections.abc import Sequence

import numpy as np
from keras import ops

from bertlab.common.errors import ConfigError, DataError
from bertlab.families import check_fills_masks, family_of
from bertlab.generation.compiling import traced
from bertlab.tokenizers.wordpiece.encoding import padded_rows

TURNS = 10  # with more, Ghazvininejad et al. 2019 saw little change (section 5.1)


def masked_count(total: int, turn: int, turns: int) -> int:
    """The number of a row's positions that are masked in a turn, counted from 0.

    Example:
        >>> [masked_count(8, turn, 4) for turn in range(4)]
        [8, 6, 4, 2]
    """
    return total * (turns - turn) // turns


def mask_predict(
    model, rows: Sequence[Sequence[int]], mask_id: int, turns: int = TURNS, never: Sequence[int] = ()
) -> list[list[int]]:
    """The rows with a token at the position of each mask.

    model: a `PreTrainingModel` that reads to both sides.   rows: ids with the special tokens around them.
    mask_id: the token that stands for a position to fill.   turns: how often the model reads the rows.
    never: ids that are not written, such as special tokens; probabilities are those among the others.
    Raises ConfigError for another model, DataError for a row without a mask or with too many tokens.

    Example:
        >>> from bertlab.models import PreTrainingModel
        >>> model = PreTrainingModel(BertConfig.named("tiny", vocab_size=100))
        >>> row = mask_predict(model, [[2, 17, 4, 4, 3]], mask_id=4, never=range(5))[0]
        >>> row[:2], row[-1], 4 in row
        ([2, 17], 3, False)
    """
    _check(model.config, rows, mask_id, turns)
    ids, real = padded_rows(rows, model.config.pad_token_id)
    counts = np.sum((ids == mask_id) & (real == 1), axis=1)  # (B,)
    order = np.argsort((ids != mask_id) | (real == 0), axis=1, kind="stable")  # the masks' columns first
    positions = order[:, : counts.max()].astype(np.int32)  # (B, P)
    is_real = np.arange(positions.shape[1]) < counts[:, None]  # (B, P)
    allowed = np.ones(model.config.vocab_size, bool)
    allowed[list(never)] = False
    certainty = np.zeros(positions.shape, np.float32)  # (B, P)
    chosen = is_real
    for turn in range(turns):
        if turn:
            by_certainty = np.argsort(np.where(is_real, certainty, np.inf), axis=1, kind="stable")
            masked = np.array([masked_count(count, turn, turns) for count in counts])
            chosen = np.argsort(by_certainty, axis=1) < masked[:, None]  # the least certain; of equal ones the first
        if not chosen.any():
            break
        row_numbers, columns = np.nonzero(chosen)
        ids[row_numbers, positions[row_numbers, columns]] = mask_id
        arguments = (ops.convert_to_tensor(argument) for argument in (ids, real, positions, allowed))
        found, chances = map(ops.convert_to_numpy, traced(model, _most_likely)(*arguments))  # (B, P) each
        ids[row_numbers, positions[row_numbers, columns]] = found[chosen]
        certainty[chosen] = chances[chosen]
    return [row[: len(given)].tolist() for row, given in zip(ids, rows)]


def _most_likely(model, ids, real, positions, allowed):
    """The most likely token at each of the positions and its probability, (B, P) int32 and float32."""
    inputs = {"input_ids": ids, "attention_mask": real, "masked_lm_positions": positions}
    logits = ops.cast(model(inputs, training=False)["masked_lm_logits"], "float32")  # (B, P, V)
    chances = ops.softmax(ops.where(allowed, logits, -np.inf), axis=-1)
    return ops.cast(ops.argmax(chances, axis=-1), "int32"), ops.max(chances, axis=-1)


def _check(config, rows, mask_id: int, turns: int) -> None:
    check_fills_masks(config)
    family = family_of(config)
    if config.causal or family.two_streams or family.decoder is not None:
        raise ConfigError(
            "mask-predict fills all masks at once: expected a masked language model that reads to both sides, such as "
            f"BERT, got one of the family {config.model_type}{', left-to-right' if config.causal else ''}"
        )
    if turns < 1:
        raise ConfigError(f"expected at least 1 turn, got {turns}")
    if not rows:
        raise DataError("expected at least one row, got none")
    for number, row in enumerate(rows, 1):
        if mask_id not in row:
            raise DataError(f"row {number} has no mask, so there is nothing to predict")
        if len(row) > config.max_tokens:
            raise DataError(
                f"row {number} has {len(row)} tokens with its masks, the model only {config.max_tokens} positions: "
                "shorten it, or ask for fewer new tokens"
            )


def fill_texts(model, tokenizer, texts: Sequence[str], new_tokens: int, turns: int = TURNS) -> list[str]:
    """The continuations of texts by so many tokens, without the texts. Errors as in `mask_predict`."""
    vocabulary = tokenizer.vocabulary
    encoded = [tokenizer.encode(text) for text in texts]
    rows = [tokenizer.pack([*ids, *[vocabulary.mask_id] * new_tokens])["input_ids"].tolist() for ids in encoded]
    never = sorted({*vocabulary.special_ids, *range(len(vocabulary), model.config.vocab_size)})  # and rows of padding
    filled = mask_predict(model, rows, vocabulary.mask_id, turns, never=never)
    written = []
    for row, given in zip(filled, rows):
        begin = given.index(vocabulary.mask_id)
        written.append(tokenizer.decode(row[begin : begin + new_tokens]))
    return written
