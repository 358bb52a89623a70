"""Reading the target of an encoder–decoder, one token of each row at a time. The source is read once.

`CachedTargetReader` keeps the keys and values of the target's tokens, and those of the source in every layer of the
decoder. `WholeTargetReader` reads the target again for each token, which is simpler and slower, and gives the same
logits. All targets begin with the same token, so they have no padding.

Where padding begins targets, as Marian's do, it is never one of their tokens.

Letters: B rows, S source tokens, U target tokens so far, P positions for them, V vocabulary, A heads, d head size.
"""

from collections.abc import Sequence

import numpy as np
from keras import ops

from bertlab.generation.compiling import traced
from bertlab.layers import padding_mask
from bertlab.models.sequence_to_sequence import never_written
from bertlab.tokenizers.wordpiece.encoding import padded_rows


class TargetReader:
    """The common part: the sources in one array.

    model: a `SequenceToSequenceModel`.   sources: ids, at least one each.   start_id: the token that begins a target.
    length: the largest number of tokens of a target.
    """

    def __init__(self, model, sources: Sequence[Sequence[int]], start_id: int, length: int):
        self.model, self.length = model, length
        self.source = dict(zip(("input_ids", "attention_mask"), padded_rows(sources, 0)))  # (B, S)
        self.ids = np.full((len(sources), 1), start_id, np.int32)  # (B, U)
        self._left_out = never_written(model.config, start_id)

    def _array(self, logits) -> np.ndarray:
        """Logits (B, V) as float32, −∞ for a token that is never written."""
        logits = np.array(ops.convert_to_numpy(ops.cast(logits, "float32")))
        logits[:, self._left_out] = -np.inf
        return logits


class WholeTargetReader(TargetReader):
    """Reads source and target again every time."""

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


class CachedTargetReader(TargetReader):
    """Keeps the keys and values of all layers, of target and source."""

    def __init__(self, model, sources: Sequence[Sequence[int]], start_id: int, length: int):
        super().__init__(model, sources, start_id, length)
        self._remembered = model.decoder.remember(model.encode(self.source)[0]["sequence_output"])
        config, dtype = model.config, model.compute_dtype
        shape = (len(sources), length, config.num_heads, config.head_size)
        self._caches = [(ops.zeros(shape, dtype), ops.zeros(shape, dtype)) for _ in model.decoder.layers_]
        self._tokens = 0
        self._step = traced(model, _read)

    def first(self) -> np.ndarray:
        """The logits of the first token of each target, (B, V) float32."""
        return self.next(self.ids[:, 0])

    def next(self, ids: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """As `WholeTargetReader.next`."""
        if rows is not None:
            self._caches = [tuple(ops.take(kept, rows, axis=0) for kept in cache) for cache in self._caches]
        ids = ops.convert_to_tensor(np.asarray(ids, np.int32)[:, None])
        start = ops.convert_to_tensor(np.int32(self._tokens))
        seen = self.source["attention_mask"]  # (B, S)
        logits, self._caches = self._step(ids, self._caches, start, self._remembered, seen)
        self._tokens += 1
        return self._array(logits)


def _read(model, ids, caches, start, remembered, seen):
    """Logits (B, V) behind the tokens ids (B, 1) at position `start` of the targets, and the caches with them."""
    key_positions = ops.arange(ops.shape(caches[0][0])[1], dtype="int32")  # (P,)
    x = model.embeddings_of_targets(ids, position_ids=ops.reshape(start, (1, 1)))
    mask = key_positions[None, None] <= start  # (1, 1, P)
    x, caches = model.decoder.extend(x, caches, start, mask, remembered, padding_mask(seen))
    return ops.cast(model.token_logits(x[:, 0]), "float32"), caches
