"""Vectors from a BERT: any layers, pooled to one per text or one per token.

A text that is longer than the model's maximum length is read in consecutive windows, and its vector is pooled over the
tokens of all windows. A model with a memory can see, in each window, tokens of those before. Texts are truncated only
on request.

The layers of a vector, and how to combine them (Devlin et al. 2019, section 5.3, table 7):

    -1                 the last layer                       last4-sum       the sum of the last four
    0                  the embeddings                       last4-concat    the last four concatenated (4·H)
    second-to-last     the layer before the last            embeddings, last     the same as 0 and −1
    2,5 with "mean"    the mean of layers 2 and 5           1,2,3 and weights 0.2,0.3,0.5: their weighted sum

Letters: B batch, T tokens, M tokens of the memory, L layers, H hidden size, D dimensions of a vector (H, or more where
layers are concatenated).
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bertlab.common.errors import DataError
from bertlab.common.progress import bar
from bertlab.tokenizers.wordpiece.encoding import text_inputs, with_specials

COMBINATIONS = ("sum", "mean", "concat")
POOLINGS = ("mean", "cls", "max", "pooler", "none")
_NAMES = {"embeddings": 0, "last": -1, "second-to-last": -2}


@dataclass(frozen=True)
class LayerChoice:
    """Layers (0 the embeddings, i the output of layer i, negative ones from the end) and how to combine them.

    combine: sum | mean | concat, when there are several. weights: one for each layer; the sum is then weighted.
    Raises DataError for a choice that contradicts itself.
    """

    layers: tuple[int, ...] = (-1,)
    combine: str = "sum"
    weights: tuple[float, ...] | None = None

    def __post_init__(self):
        if not self.layers:
            raise DataError("expected at least one layer")
        if self.combine not in COMBINATIONS:
            raise DataError(f"unknown combine {self.combine!r}; choose one of {', '.join(COMBINATIONS)}")
        weights = self.weights
        if weights is None:
            return
        if self.combine == "concat":
            raise DataError("weights are for a sum or a mean, not for concat; leave out weights or concat")
        if len(weights) != len(self.layers):
            raise DataError(f"{len(weights)} weights for {len(self.layers)} layers ({self.combine}); give one each")
        if not np.all(np.isfinite(weights)) or (self.combine == "mean" and sum(weights) == 0):
            raise DataError(f"weights must be finite numbers, for a mean with a sum other than 0; got {weights}")

    @classmethod
    def of(
        cls,
        choice: "LayerChoice | int | str | Sequence[int]",
        combine: str | None = None,
        weights: Sequence[float] | None = None,
    ) -> "LayerChoice":
        """From a number, some numbers, "last", "last4-sum", "last4-concat" or "1,2,3". combine: sum by default.

        Raises DataError if `choice` and `combine` contradict each other.
        """
        if isinstance(choice, LayerChoice):
            return choice
        if isinstance(choice, int):
            layers = (choice,)
        elif not isinstance(choice, str):
            layers = tuple(choice)
        elif choice in _NAMES:
            layers = (_NAMES[choice],)
        elif last := re.fullmatch(r"last(\d+)-(.*)", choice):
            if combine not in (None, last[2]):
                raise DataError(f"layers {choice!r} and combine {combine!r} contradict each other; leave out combine")
            layers, combine = tuple(range(-int(last[1]), 0)), last[2]
        else:
            try:
                layers = tuple(int(part) for part in choice.split(","))
            except ValueError:
                raise DataError(f"expected layers such as -1, 1,2,3 or last4-sum, got {choice!r}") from None
        return cls(layers, combine or "sum", None if weights is None else tuple(weights))

    def check(self, num_layers: int) -> None:
        """Raises DataError for a layer that a model with this number of layers does not have."""
        for layer in self.layers:
            if not -num_layers - 1 <= layer <= num_layers:
                raise DataError(f"there is no layer {layer}; choose 0 (embeddings) to {num_layers}, or −1 for the last")

    def width(self, hidden_size: int) -> int:
        """Dimensions of the result."""
        return hidden_size * (len(self.layers) if self.combine == "concat" else 1)

    def apply(self, states: Sequence[np.ndarray]) -> np.ndarray:
        """The chosen layers as one array. states: L + 1 arrays (…, H) → (…, width)."""
        chosen = [states[layer] for layer in self.layers]
        if self.combine == "concat":
            return np.concatenate(chosen, axis=-1)
        weights = self.weights or (1.0,) * len(chosen)
        total = sum(weight * state for weight, state in zip(weights, chosen))
        return total / sum(weights) if self.combine == "mean" else total


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
    memory: int = 0,
) -> np.ndarray | list[np.ndarray]:
    """One vector per text, (texts, D) float32; with pooling="none" one array (tokens, D) per text, [CLS] … [SEP].

    Args:
        encoder: a `Backbone`.   tokenizer: its tokenizer.
        layer: 0 for the embeddings, i for the output of layer i, −1 for the last; or several (see `LayerChoice`).
        pooling: mean (over the real tokens) | cls | max | pooler (tanh of the last layer's [CLS]) | none.
        normalise: scale each vector to length 1.
        truncate: truncate a text with too many tokens instead of reading it in windows.
        memory: how many tokens of the windows before a window also sees, for a model with a memory.

    Raises DataError for an unknown layer or pooling, for one text in place of several, or something else than a text;
    ConfigError for a memory that the model does not have.
    """
    if isinstance(texts, (str, bytes)):
        raise DataError(f"expected a list of texts, got one text, {texts!r:.80}; put it into a list")
    texts = list(texts)
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise DataError(f"text {number}: expected a text, got {type(text).__name__}")
    maker = VectorEncoder(encoder, tokenizer, layer, pooling, normalise, batch_size, truncate, memory)
    with bar("Encoding", len(texts)) as running:
        vectors = maker(texts, running.advance)
    return vectors if pooling == "none" else np.array(vectors, "float32").reshape(len(vectors), maker.dimensions)


class VectorEncoder:
    """Encodes one list of texts after another; arguments as in `encode_texts`.

    Call: texts → a list with an array (D,), or (tokens, D), for each.
    """

    def __init__(
        self, encoder, tokenizer, layer=-1, pooling="mean", normalise=False, batch_size=32, truncate=False, memory=0
    ):
        self.choice = LayerChoice.of(layer)
        self.choice.check(encoder.config.num_layers)
        if pooling not in POOLINGS:
            raise DataError(f"unknown pooling {pooling!r}; choose one of {', '.join(POOLINGS)}")
        if pooling == "pooler" and encoder.pooler is None:
            raise DataError("this model has no pooler; choose another pooling")
        if pooling == "pooler" and tuple(self.choice.layers) not in {(-1,), (encoder.config.num_layers,)}:
            raise DataError("the pooler reads the last layer alone: leave the layers out, or choose another pooling")
        if memory:
            from bertlab.models.base import check_memory_is_taken

            check_memory_is_taken(encoder.encoder, encoder.config)
        self.encoder, self.tokenizer, self.pooling, self.memory = encoder, tokenizer, pooling, memory
        self.normalise, self.batch_size, self.truncate = normalise, batch_size, truncate

    @property
    def dimensions(self) -> int:
        """D."""
        hidden_size = self.encoder.config.hidden_size
        return hidden_size if self.pooling == "pooler" else self.choice.width(hidden_size)

    def __call__(self, texts: Sequence[str], advance=lambda texts: None) -> list[np.ndarray]:
        rows, owners = self._packed(texts)
        starts = np.searchsorted(owners, np.arange(len(texts) + 1))
        states: list = [None] * len(rows)
        windows_left = np.diff(starts)
        batches = self._in_order(rows, starts) if self.memory else self._by_length(rows)
        for chosen, read in batches:
            for i, state in zip(chosen, read, strict=True):
                states[i] = state
                windows_left[owners[i]] -= 1
            advance(int(np.sum(windows_left[np.unique(owners[chosen])] == 0)))
        vectors = [self._pooled(states[starts[i] : starts[i + 1]]) for i in range(len(texts))]
        if not self.normalise:
            return vectors
        return [vector / np.linalg.norm(vector, axis=-1, keepdims=True) for vector in vectors]

    def _by_length(self, rows: list[list[int]]) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
        """Numbers of rows, similar lengths together (little padding), and their states."""
        order = np.argsort([len(row) for row in rows], kind="stable")
        for start in range(0, len(order), self.batch_size):
            chosen = order[start : start + self.batch_size]
            yield chosen, self._states(self._read([rows[i] for i in chosen]), [len(rows[i]) for i in chosen])

    def _in_order(self, rows: list[list[int]], starts: np.ndarray) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
        """The same, window after window: each sees the memory of those before. starts: each text's first row.

        All windows but a text's last one are full, so that the texts of a batch have equally long memories. The special
        tokens at the end of a window are not remembered.
        """
        from bertlab.layers import next_memory

        counts = np.diff(starts)
        order = np.argsort(-counts, kind="stable")  # who has many windows first: a batch loses texts from its end
        for start in range(0, len(order), self.batch_size):
            batch, memory = order[start : start + self.batch_size], None
            for number in range(counts[batch[0]]):
                batch = batch[counts[batch] > number]
                chosen = starts[batch] + number
                memory = None if memory is None else memory[:, : len(batch)]
                outputs = self._read([rows[i] for i in chosen], memory)
                yield chosen, self._states(outputs, [len(rows[i]) for i in chosen])
                memory = next_memory(outputs["hidden_states"], memory, self.memory, self.encoder.config.max_tokens - 2)

    def _packed(self, texts: Iterable[str]) -> tuple[list[list[int]], np.ndarray]:
        """[CLS] tokens [SEP] of every window, and the number of its text."""
        vocabulary, max_pieces = self.tokenizer.vocabulary, self.encoder.config.max_tokens - 2
        rows, owners = [], []
        for owner, pieces in enumerate(self.tokenizer.encode_batch(texts).to_list()):
            for start in range(0, max(len(pieces), 1), max_pieces):
                rows.append(with_specials(vocabulary, pieces[start : start + max_pieces]))
                owners.append(owner)
                if self.truncate:
                    break
        return rows, np.array(owners, np.int64)

    def _read(self, rows: list[list[int]], memory=None) -> dict:
        """The model's outputs for rows of different lengths, with all hidden states. memory: (L, B, M, H) or None."""
        inputs = text_inputs(self.tokenizer.vocabulary, rows, self.encoder.config.pad_token_id)
        return self.encoder(inputs, training=False, return_all=True, memory=memory)

    def _states(self, outputs: dict, lengths: list[int]) -> list[np.ndarray]:
        """The chosen layers' vectors of each row, (tokens, D); (1, H) for the pooler."""
        from keras import ops

        if self.pooling == "pooler":
            return list(ops.convert_to_numpy(ops.cast(outputs["pooled_output"], "float32"))[:, None])
        hidden = outputs["hidden_states"]
        needed = {i: ops.convert_to_numpy(ops.cast(hidden[i], "float32")) for i in set(self.choice.layers)}
        states = self.choice.apply(needed)  # (B, T, D)
        return [state[:length] for length, state in zip(lengths, states, strict=True)]

    def _pooled(self, windows: list[np.ndarray]) -> np.ndarray:
        """One text's vector from its windows' states. [CLS] and the pooler: the mean over windows."""
        if self.pooling in ("cls", "pooler"):
            cls = -1 if self.tokenizer.vocabulary.cls_last else 0  # of a pooler there is only one vector
            return np.mean([window[cls] for window in windows], axis=0)
        states = np.concatenate(windows)
        return states if self.pooling == "none" else getattr(states, self.pooling)(axis=0)  # mean or max
