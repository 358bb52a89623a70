"""Reading rows of tokens: all at once the prompts, then one token of each row at a time.

`CachedReader` keeps the keys and values of every layer: a token costs as much as the row is long. `WholeReader` reads
the row again for each token, which is simpler and slower, and gives the same logits. `CachedTargetReader` and
`WholeTargetReader` do so with the targets of an encoder–decoder, whose sources are read once.

The rows end together, so shorter prompts have padding before them, which no token sees. All targets begin with the same
token, so they have none; where padding is that token, as in Marian's, it is never written.

Letters: B rows, T tokens so far, S tokens at most, V vocabulary, A heads, d head size; for targets U tokens so far, P
positions for them, S source tokens.
"""

from collections.abc import Callable, Sequence

import numpy as np
from keras import ops

from bertlab.common.errors import DataError
from bertlab.generation.compiling import compiled, traced
from bertlab.layers import padding_mask
from bertlab.models.sequence_to_sequence import never_written
from bertlab.tokenizers.wordpiece.encoding import padded_rows

BLOCK = 64  # kept keys have positions for a multiple of it, so that few lengths are compiled


def check_given(name: str, purpose: str, given: Sequence[str | Sequence[int]], vocab_size: int = 0) -> None:
    """Raises DataError for a text or row of ids that is empty, or a row with an id outside the vocabulary."""
    if not given:
        raise DataError(f"expected at least one {name} to {purpose}, got none")
    for number, one in enumerate(given, 1):
        if not (one.strip() if isinstance(one, str) else one):
            raise DataError(f"{name} {number} is empty; expected a text to {purpose}")
        if not isinstance(one, str) and not all(0 <= token < vocab_size for token in one):
            raise DataError(f"{name} {number} has an id outside the vocabulary, 0 to {vocab_size - 1}")


def by_length(rows: Sequence[Sequence[int]], together: int, write: Callable[[list], list]) -> list:
    """The results of `write`, which gets so many rows of like length at once, in the order of the rows."""
    order = sorted(range(len(rows)), key=lambda number: len(rows[number]))
    found = {}
    for begin in range(0, len(order), together):
        numbers = order[begin : begin + together]
        found |= zip(numbers, write([rows[number] for number in numbers]), strict=True)
    return [found[number] for number in range(len(rows))]


class WholeReader:
    """Reads all tokens again every time.

    model: a left-to-right `PreTrainingModel`.   prompts: ids, at least one each.   length: S.
    vocabulary: the number of its tokens; None: as many as the model has rows for, some of which may be padding.
    """

    def __init__(self, model, prompts: Sequence[Sequence[int]], length: int, vocabulary: int | None = None):
        self.model, self.vocabulary = model, vocabulary
        self.tokens = max(map(len, prompts))
        self.padding = np.array([self.tokens - len(prompt) for prompt in prompts], np.int32)  # (B,)
        filler = model.config.pad_token_id if model.config.pad_token_id < model.config.vocab_size else 0
        self.ids = np.full((len(prompts), self.tokens), filler, np.int32)  # (B, T)
        for row, prompt in zip(self.ids, prompts):
            row[self.tokens - len(prompt) :] = prompt

    def first(self) -> np.ndarray:
        """The logits behind the prompts, (B, V) float32."""
        columns = np.arange(self.ids.shape[1], dtype=np.int32)
        inputs = {
            "input_ids": self.ids,
            "attention_mask": (columns >= self.padding[:, None]).astype(np.int32),
            "position_ids": np.maximum(columns - self.padding[:, None], 0),
        }
        return self._array(self.model(inputs, training=False)["masked_lm_logits"][:, -1])

    def next(self, ids: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """The logits behind one more token of each row, (B, V). ids (B,); rows: which row each one continues."""
        if rows is not None:
            self.ids, self.padding = self.ids[rows], self.padding[rows]
        self.ids = np.concatenate([self.ids, np.asarray(ids, np.int32)[:, None]], axis=1)
        return self.first()

    def _array(self, logits) -> np.ndarray:
        """Logits (B, V) as float32, without those of padding."""
        return np.asarray(ops.convert_to_numpy(ops.cast(logits, "float32")))[:, : self.vocabulary]


def empty_caches(model, rows: int, capacity: int, layers: int) -> list[tuple]:
    """Keys and values of `layers` layers, (B, S, A, d) each."""
    shape = (rows, capacity, model.config.num_heads, model.config.head_size)
    return [(ops.zeros(shape, model.compute_dtype), ops.zeros(shape, model.compute_dtype)) for _ in range(layers)]


def read(model, ids, caches, start, padding):
    """Logits (B, V) behind the tokens ids (B, n) that begin at column `start`, and the caches with these tokens."""
    columns = start + ops.arange(ops.shape(ids)[1], dtype="int32")  # (n,)
    key_positions = ops.arange(ops.shape(caches[0][0])[1], dtype="int32")  # (S,)
    positions = ops.maximum(columns[None] - padding[:, None], 0)  # (B, n)
    behind = key_positions[None, None] <= columns[None, :, None]  # (1, n, S)
    mask = ops.logical_and(behind, key_positions[None, None] >= padding[:, None, None])  # (B, n, S)
    x = model.backbone.embeddings(ids, position_ids=positions)
    x, caches = model.backbone.encoder.extend(x, caches, start, mask)
    return ops.cast(model.token_logits(x[:, -1:])[:, 0], "float32"), caches


class CachedReader(WholeReader):
    """Keeps the keys and values of all layers."""

    def __init__(self, model, prompts: Sequence[Sequence[int]], length: int, vocabulary: int | None = None):
        super().__init__(model, prompts, length, vocabulary)
        capacity = -(-length // BLOCK) * BLOCK
        self.caches = empty_caches(model, len(prompts), capacity, len(model.backbone.encoder.passed()))

    def first(self) -> np.ndarray:
        return self._read(traced(self.model, read), self.ids, 0)

    def next(self, ids: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        if rows is not None:
            self.padding = self.padding[rows]
            self.caches = _rows_of(self.caches, rows)
        logits = self._read(compiled(self.model, read), np.asarray(ids, np.int32)[:, None], self.tokens)
        self.tokens += 1
        return logits

    def _read(self, step, ids: np.ndarray, start: int) -> np.ndarray:
        ids, start, padding = (ops.convert_to_tensor(each) for each in (ids, np.int32(start), self.padding))
        logits, self.caches = step(ids, self.caches, start, padding)
        return self._array(logits)


def _rows_of(caches: list[tuple], rows: np.ndarray) -> list[tuple]:
    return [tuple(ops.take(kept, rows, axis=0) for kept in cache) for cache in caches]


# === Targets of an encoder–decoder ===


class WholeTargetReader:
    """Reads source and target again every time.

    model: a `SequenceToSequenceModel`.   sources: ids, at least one each.   start_id: the token that begins a target.
    length: P.
    """

    def __init__(self, model, sources: Sequence[Sequence[int]], start_id: int, length: int):
        self.model = model
        self.source = dict(zip(("input_ids", "attention_mask"), padded_rows(sources, 0)))  # (B, S)
        self.ids = np.full((len(sources), 1), start_id, np.int32)  # (B, U)
        self._left_out = never_written(model.config, start_id)

    def first(self) -> np.ndarray:
        """The logits of the next token of each target, (B, V) float32."""
        decoded = self.model.decode(self.source | {"decoder_input_ids": self.ids})["decoder_output"]  # (B, U, H)
        return self._array(self.model.token_logits(decoded[:, -1]))

    def next(self, ids: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """The logits behind one more token of each target, (B, V). ids (B,); rows: which target each one continues,
        of the same source."""
        targets = self.ids if rows is None else self.ids[rows]
        self.ids = np.concatenate([targets, np.asarray(ids, np.int32)[:, None]], axis=1)
        return self.first()

    def _array(self, logits) -> np.ndarray:
        """Logits (B, V) as float32, −∞ for a token that is never written."""
        logits = np.array(ops.convert_to_numpy(ops.cast(logits, "float32")))
        logits[:, self._left_out] = -np.inf
        return logits


class CachedTargetReader(WholeTargetReader):
    """Keeps the keys and values of all layers, of target and source."""

    def __init__(self, model, sources: Sequence[Sequence[int]], start_id: int, length: int):
        super().__init__(model, sources, start_id, length)
        self._remembered = model.decoder.remember(model.encode(self.source)[0]["sequence_output"])
        self._caches = empty_caches(model, len(sources), length, len(model.decoder.layers_))
        self._tokens = 0

    def first(self) -> np.ndarray:
        return self.next(self.ids[:, 0])

    def next(self, ids: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        if rows is not None:
            self._caches = _rows_of(self._caches, rows)
        ids, start = (
            ops.convert_to_tensor(each) for each in (np.asarray(ids, np.int32)[:, None], np.int32(self._tokens))
        )
        step, seen = traced(self.model, _read_target), self.source["attention_mask"]  # (B, S)
        logits, self._caches = step(ids, self._caches, start, self._remembered, seen)
        self._tokens += 1
        return self._array(logits)


def _read_target(model, ids, caches, start, remembered, seen):
    """Logits (B, V) behind the tokens ids (B, 1) at position `start` of the targets, and the caches with them."""
    key_positions = ops.arange(ops.shape(caches[0][0])[1], dtype="int32")  # (P,)
    x = model.embeddings_of_targets(ids, position_ids=ops.reshape(start, (1, 1)))
    mask = key_positions[None, None] <= start  # (1, 1, P)
    x, caches = model.decoder.extend(x, caches, start, mask, remembered, padding_mask(seen))
    return ops.cast(model.token_logits(x[:, 0]), "float32"), caches
