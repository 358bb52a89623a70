"""Reading rows of tokens: all at once the prompts, then one token of each row at a time.

The rows end together, so shorter prompts have padding before them, which no token sees. `CachedReader` keeps the keys
and values of every layer: a token costs as much as the row is long. `WholeReader` reads the row again for each token,
which is simpler and slower, and gives the same logits.

Letters: B rows, T tokens so far, S tokens at most, V vocabulary, A heads, d head size.
"""

from collections.abc import Sequence

import numpy as np
from keras import ops

from bertlab.generation.compiling import compiled, traced

BLOCK = 64  # kept keys have positions for a multiple of it, so that few lengths are compiled


class Reader:
    """The common part: padding before the prompts.

    model: a left-to-right `PreTrainingModel`.   prompts: ids, at least one each.   length: S.
    vocabulary: the number of its tokens; None: as many as the model has rows for, some of which may be padding.
    """

    def __init__(self, model, prompts: Sequence[Sequence[int]], length: int, vocabulary: int | None = None):
        self.model, self.length, self.vocabulary = model, length, vocabulary
        self.tokens = max(map(len, prompts))
        self.padding = np.array([self.tokens - len(prompt) for prompt in prompts], np.int32)  # (B,)
        filler = model.config.pad_token_id if model.config.pad_token_id < model.config.vocab_size else 0
        self.ids = np.full((len(prompts), self.tokens), filler, np.int32)  # (B, T)
        for row, prompt in zip(self.ids, prompts):
            row[self.tokens - len(prompt) :] = prompt

    def _array(self, logits) -> np.ndarray:
        """Logits (B, V) as float32, without those of padding."""
        return np.asarray(ops.convert_to_numpy(ops.cast(logits, "float32")))[:, : self.vocabulary]


class WholeReader(Reader):
    """Reads all tokens again every time."""

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


class CachedReader(Reader):
    """Keeps the keys and values of all layers.

    A subclass with another `read` and other caches (lists or tuples of tensors whose first axis is that of the rows)
    can be used instead of this one everywhere.
    """

    read = staticmethod(read)

    def __init__(self, model, prompts: Sequence[Sequence[int]], length: int, vocabulary: int | None = None):
        super().__init__(model, prompts, length, vocabulary)
        config = model.config
        capacity = -(-length // BLOCK) * BLOCK
        shape = (len(prompts), capacity, config.num_heads, config.head_size)
        dtype = model.compute_dtype
        layers = len(model.backbone.encoder.passed())
        self.caches = [(ops.zeros(shape, dtype), ops.zeros(shape, dtype)) for _ in range(layers)]

    def first(self) -> np.ndarray:
        """The logits behind the prompts, (B, V) float32."""
        return self._logits(traced(self.model, type(self).read), self.ids, 0)

    def next(self, ids: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """The logits behind one more token of each row, (B, V). ids (B,); rows: which row each one continues."""
        if rows is not None:
            self.padding = self.padding[rows]
            self.caches = [tuple(ops.take(kept, rows, axis=0) for kept in cache) for cache in self.caches]
        ids = np.asarray(ids, np.int32)[:, None]
        logits = self._logits(compiled(self.model, type(self).read), ids, self.tokens)
        self.tokens += 1
        return logits

    def _logits(self, step, ids: np.ndarray, start: int) -> np.ndarray:
        arguments = (ids, np.int32(start), self.padding)
        ids, start, padding = (ops.convert_to_tensor(argument) for argument in arguments)
        logits, self.caches = step(ids, self.caches, start, padding)
        return self._array(logits)
