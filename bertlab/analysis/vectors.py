"""Vectors from a BERT: any layers, pooled to one per text or one per token.

A text that is longer than the model's maximum length is read in consecutive windows, and its vector is pooled over the
tokens of all windows. Texts are truncated only on request.

Letters: B batch, T tokens, H hidden size, D dimensions of a vector (H, or more where layers are concatenated).
"""

from collections.abc import Iterable, Sequence

import numpy as np

from bertlab.analysis.layers import LayerChoice
from bertlab.errors import DataError
from bertlab.progress import bar
from bertlab.wordpiece.encoding import with_specials

POOLINGS = ("mean", "cls", "max", "pooler", "none")


def encode_texts(
    encoder,
    tokenizer,
    texts: Sequence[str],
    *,
    layer: LayerChoice | int | str | Sequence[int] = -1,
    pooling: str = "mean",
    normalise: bool = False,
    batch_size: int = 32,
    truncate: bool = False,
) -> np.ndarray | list[np.ndarray]:
    """One vector per text, (texts, D) float32; with pooling="none" one array (tokens, D) per text, [CLS] … [SEP].

    Args:
        encoder: a `Backbone`.   tokenizer: its tokenizer.
        layer: 0 for the embeddings, i for the output of layer i, −1 for the last; or several (see `LayerChoice`).
        pooling: mean (over the real tokens) | cls | max | pooler (tanh of the last layer's [CLS]) | none.
        normalise: scale each vector to length 1.
        truncate: truncate a text with too many tokens instead of reading it in windows.

    Raises DataError for an unknown layer or pooling.
    """
    maker = VectorEncoder(encoder, tokenizer, layer, pooling, normalise, batch_size, truncate)
    with bar("Encoding", len(texts)) as running:
        vectors = maker(texts, running.advance)
    return vectors if pooling == "none" else np.array(vectors, "float32").reshape(len(vectors), maker.dimensions)


class VectorEncoder:
    """Encodes one list of texts after another; arguments as in `encode_texts`.

    Call: texts → a list with an array (D,), or (tokens, D), for each.
    """

    def __init__(self, encoder, tokenizer, layer=-1, pooling="mean", normalise=False, batch_size=32, truncate=False):
        self.choice = LayerChoice.of(layer)
        self.choice.check(encoder.config.num_layers)
        if pooling not in POOLINGS:
            raise DataError(f"unknown pooling {pooling!r}; choose one of {', '.join(POOLINGS)}")
        if pooling == "pooler" and encoder.pooler is None:
            raise DataError("this model has no pooler; choose another pooling")
        self.encoder, self.tokenizer, self.pooling = encoder, tokenizer, pooling
        self.normalise, self.batch_size, self.truncate = normalise, batch_size, truncate

    @property
    def dimensions(self) -> int:
        """D."""
        hidden_size = self.encoder.config.hidden_size
        return hidden_size if self.pooling == "pooler" else self.choice.width(hidden_size)

    def __call__(self, texts: Sequence[str], advance=lambda texts: None) -> list[np.ndarray]:
        rows, owners = self._packed(texts)
        order = np.argsort([len(row) for row in rows], kind="stable")  # group similar lengths: little padding
        states: list = [None] * len(rows)
        windows_left = np.bincount(owners, minlength=len(texts))
        for start in range(0, len(order), self.batch_size):
            chosen = order[start : start + self.batch_size]
            for i, state in zip(chosen, self._states([rows[i] for i in chosen]), strict=True):
                states[i] = state
                windows_left[owners[i]] -= 1
            advance(int(np.sum(windows_left[np.unique(owners[chosen])] == 0)))
        starts = np.searchsorted(owners, np.arange(len(texts) + 1))
        vectors = [self._pooled(states[starts[i] : starts[i + 1]]) for i in range(len(texts))]
        if not self.normalise:
            return vectors
        return [vector / np.linalg.norm(vector, axis=-1, keepdims=True) for vector in vectors]

    def _packed(self, texts: Iterable[str]) -> tuple[list[list[int]], np.ndarray]:
        """[CLS] tokens [SEP] of every window, and the number of its text."""
        vocabulary, room = self.tokenizer.vocabulary, self.encoder.config.max_tokens - 2
        rows, owners = [], []
        for owner, pieces in enumerate(self.tokenizer.encode_batch(texts).to_list()):
            for start in range(0, max(len(pieces), 1), room):
                rows.append(with_specials(vocabulary, pieces[start : start + room]))
                owners.append(owner)
                if self.truncate:
                    break
        return rows, np.array(owners, np.int64)

    def _states(self, rows: list[list[int]]) -> list[np.ndarray]:
        """The chosen layers' vectors of each row, (tokens, D); (1, H) for the pooler."""
        from keras import ops

        longest = max(len(row) for row in rows)
        ids = np.full((len(rows), longest), self.encoder.config.pad_token_id, "int32")  # (B, T)
        mask = np.zeros_like(ids)
        segments = np.zeros_like(ids)
        for i, row in enumerate(rows):
            ids[i, : len(row)], mask[i, : len(row)] = row, 1
            segments[i, len(row) - 1] = 2 if self.tokenizer.vocabulary.cls_last else 0
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": segments}
        outputs = self.encoder(inputs, training=False, return_all=True)
        if self.pooling == "pooler":
            return list(ops.convert_to_numpy(ops.cast(outputs["pooled_output"], "float32"))[:, None])
        hidden = outputs["hidden_states"]
        needed = {i: ops.convert_to_numpy(ops.cast(hidden[i], "float32")) for i in set(self.choice.layers)}
        states = self.choice.apply(needed)  # (B, T, D)
        return [state[: len(row)] for row, state in zip(rows, states, strict=True)]

    def _pooled(self, windows: list[np.ndarray]) -> np.ndarray:
        """One text's vector from its windows' states. [CLS] and the pooler: the mean over windows."""
        if self.pooling in ("cls", "pooler"):
            cls = -1 if self.tokenizer.vocabulary.cls_last else 0  # of a pooler there is only one vector
            return np.mean([window[cls] for window in windows], axis=0)
        states = np.concatenate(windows)
        return {"mean": lambda: states.mean(axis=0), "max": lambda: states.max(axis=0), "none": lambda: states}[
            self.pooling
        ]()
