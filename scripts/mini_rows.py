"""The rows that `scripts.make_mini` trains on: drawn from arrays of tokens, put together and masked on the device.

Letters: B rows of a batch, T tokens of a row, P predictions of a row at most, N tokens of all texts.
"""

import sys
from dataclasses import dataclass, field
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from bertlab.tokenizers.wordpiece import Vocabulary
from scripts.mini_tokens import Tokens
from scripts.text_kinds import KINDS

LONGEST = 128

# Kind of text → its fraction of the rows that are drawn.
MIXES = {
    "standard": {
        "encyclopaedia": 0.42, "novels": 0.23, "talk": 0.15, "textbooks": 0.10, "news": 0.05, "packages": 0.05
    },
    "little encyclopaedia": {
        "encyclopaedia": 0.15, "novels": 0.40, "talk": 0.22, "textbooks": 0.12, "news": 0.07, "packages": 0.04
    },
}  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of row.

    tokens: its length. pairs: whether it has two segments. share: the fraction of the updates. rows: of a batch.
    masked: the largest fraction of masked tokens. whole_words: mask all tokens of a word, or none of them.
    left_to_right: mask nothing; predict each token from the tokens before it.
    """

    tokens: int
    pairs: bool
    share: float
    rows: int
    masked: float = 0.3
    whole_words: bool = False
    left_to_right: bool = False

    @property
    def predictions(self) -> int:
        """The largest number of predictions in a row.

        An odd number: with [CLS] it becomes even, as the attention of cuDNN wants its queries.
        """
        return self.tokens - 1 if self.left_to_right else round(self.masked * self.tokens) | 1


def kinds_of(
    tokens: int, short: float = 0.6, masked: float = 0.3, whole_words: bool = False, left_to_right: float = 0.0
) -> tuple[Kind, ...]:
    """Rows of one segment and of two, for batches of so many tokens, and rows that are read from left to right.

    left_to_right: the fraction of updates with the last kind; at 0 it is left out. short: the fraction of the other
    updates that has rows of one segment.
    """
    both_sides = 1 - left_to_right
    kinds = (
        Kind(32, False, short * both_sides, tokens // 32, masked, whole_words),
        Kind(LONGEST, True, (1 - short) * both_sides, tokens // LONGEST, masked, whole_words),
    )
    last = Kind(32, False, left_to_right, tokens // 32, left_to_right=True)
    return (*kinds, last) if left_to_right else kinds


class Text:
    """All tokens of some sources. Draws spans: where a row's segments start in `ids`, and how long they are.

    folder: of `scripts.mini_tokens`. mix: kind → its fraction, as in `MIXES`; files that are not there are left out.
    """

    def __init__(self, folder: Path, mix: dict[str, float]):
        files = {path.stem: path for path in folder.glob("*.npz")}
        parts, weights, self.ids = [], [], []
        starts, ends, first = [], [], 0
        for kind, weight in mix.items():
            tokens = [Tokens.load(files[name]) for name in KINDS[kind] if name in files]
            total = sum(len(each.ids) for each in tokens)
            for each in tokens:
                offset = sum(len(ids) for ids in self.ids)
                sentences = len(each.document_ends)
                parts.append((first, sentences))
                weights.append(weight * len(each.ids) / total)
                starts.append(each.starts[:-1] + offset)
                ends.append(each.document_ends + first)
                self.ids.append(each.ids)
                first += sentences
        if not parts:
            sys.exit(f"{folder}: expected the arrays of `python -m scripts.mini_tokens`; give its folder")
        self.ids = np.concatenate(self.ids)
        self.starts = np.concatenate([*starts, [len(self.ids)]])
        self.document_ends = np.concatenate(ends)
        self.parts, self.weights = np.array(parts), np.array(weights) / sum(weights)

    def sources(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """The numbers of random sources: (count,)."""
        return rng.choice(len(self.parts), count, p=self.weights)

    def sentences(self, sources: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """The number of a random sentence of each of these sources."""
        first, number = self.parts[sources].T
        return first + (rng.random(len(sources)) * number).astype(np.int64)

    def span(self, sentence: np.ndarray, longest: np.ndarray, alone=False) -> tuple[np.ndarray, np.ndarray]:
        """Whole sentences from `sentence` on, up to `longest` tokens, or the start of a longer sentence.

        alone: True where one sentence is enough. Returns the lengths and the number of the sentence after them.
        """
        start = self.starts[sentence]
        after = np.searchsorted(self.starts, start + longest, side="right") - 1
        after = np.clip(after, sentence + 1, np.where(alone, sentence + 1, self.document_ends[sentence]))
        return np.minimum(self.starts[after] - start, longest), after

    def spans(self, kind: Kind, rng: np.random.Generator, count: int) -> np.ndarray:
        """Start and length of segment A and of B, and whether B is from elsewhere in the source (1): (count, 5) int32.

        A segment B that follows in the text (0) starts with the sentence after A. Rows of one segment have a B of 0.
        """
        sources = self.sources(rng, count)
        sentence = self.sentences(sources, rng)
        none = np.zeros(count, np.int64)
        if not kind.pairs:
            alone = rng.random(count) < 0.5
            length, _ = self.span(sentence, np.full(count, kind.tokens - 2), alone)
            return np.stack([self.starts[sentence], length, none, none, none], 1).astype(np.int32)
        max_tokens = kind.tokens - 3
        length_a, after = self.span(sentence, rng.integers(max_tokens // 4, 3 * max_tokens // 4, count))
        elsewhere = (rng.random(count) < 0.5) | (after >= self.document_ends[sentence])
        second = np.where(elsewhere, self.sentences(sources, rng), after)
        length_b, _ = self.span(second, max_tokens - length_a)
        columns = [self.starts[sentence], length_a, self.starts[second], length_b, elsewhere]
        return np.stack(columns, 1).astype(np.int32)


@dataclass(frozen=True)
class Marks:
    """Ids of the special tokens, and the first and the last id that a random replacement may have.

    continues: (V,) bool, True for tokens that continue a word, such as "##ing".
    """

    pad: int
    cls: int
    sep: int
    mask: int
    first: int
    last: int
    continues: np.ndarray = field(compare=False, repr=False)

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> "Marks":
        first = max(vocabulary.special_ids) + 1
        continues = np.array([token.startswith("##") for token in vocabulary.pieces])
        return cls(vocabulary.pad_id, vocabulary.cls_id, vocabulary.sep_id, vocabulary.mask_id, first,
                   len(vocabulary) - 1, continues)  # fmt: skip


def rows_of(spans, ids, kind: Kind, marks: Marks) -> dict:
    """[CLS] A [SEP], or [CLS] A [SEP] B [SEP]: spans (B, 5), ids (N,) → the model's inputs (B, T), and labels (B,)."""
    start_a, a, start_b, b, label = (column[:, None] for column in spans.T)  # (B, 1) each
    at = jnp.arange(kind.tokens)[None]  # (1, T)
    in_a, in_b = (at >= 1) & (at <= a), (at >= a + 2) & (at <= a + 1 + b)
    source = jnp.where(in_a, start_a + at - 1, jnp.where(in_b, start_b + at - a - 2, 0))
    ends = (at == a + 1) | ((b > 0) & (at == a + b + 2))
    tokens = jnp.where(in_a | in_b, ids[source].astype(jnp.int32), marks.pad)
    tokens = jnp.where(at == 0, marks.cls, jnp.where(ends, marks.sep, tokens))
    length = 2 + a + jnp.where(b > 0, b + 1, 0)
    rows = {
        "input_ids": tokens,
        "token_type_ids": ((at >= a + 2) & (at < length)).astype(jnp.int32),
        "attention_mask": (at < length).astype(jnp.int32),
    }
    return rows | ({"next_sentence_labels": label[:, 0]} if kind.pairs else {})


def examples_of(rows: dict, key, rate, kind: Kind, marks: Marks) -> dict:
    """These rows as a batch: the model's inputs, with the positions, ids and weights of the predictions."""
    return left_to_right(rows, kind) if kind.left_to_right else masked(rows, key, rate, kind, marks)


def masked(rows: dict, key, rate, kind: Kind, marks: Marks) -> dict:
    """Masks round(rate · tokens) tokens of each row, at least one: 80 % [MASK], 10 % random, 10 % as they were.

    Of whole words it masks as many as reach this number, up to `kind.predictions` tokens.
    """
    ids = rows["input_ids"]
    choosing, drawing, replacing = jax.random.split(key, 3)
    text = (rows["attention_mask"] > 0) & (ids != marks.cls) & (ids != marks.sep)
    keys = jax.random.uniform(choosing, ids.shape)
    if kind.whole_words:  # all tokens of a word have the key of its first token
        word = jnp.cumsum(~jnp.asarray(marks.continues)[ids], axis=1) - 1
        keys = jnp.take_along_axis(keys, word, axis=1)
    chosen, positions = jax.lax.top_k(jnp.where(text, keys, -1.0), kind.predictions)  # (B, P)
    wanted = jnp.maximum(1, jnp.round(rate * rows["attention_mask"].sum(1)))[:, None]
    weights = (chosen >= 0) & (jnp.arange(kind.predictions)[None] < wanted)
    if kind.whole_words:
        lowest = jnp.min(jnp.where(weights, chosen, 1.0), axis=1, keepdims=True)
        weights = chosen >= jnp.maximum(lowest, 0.0)  # the rest of the last word, too
    targets = jnp.take_along_axis(ids, positions, 1)
    draw = jax.random.uniform(drawing, positions.shape)
    other = jax.random.randint(replacing, positions.shape, marks.first, marks.last + 1)
    shown = jnp.where(draw < 0.8, marks.mask, jnp.where(draw < 0.9, other, targets))
    shown = jnp.where(weights, shown, targets)
    return rows | {
        "input_ids": jnp.put_along_axis(ids, positions, shown, 1, inplace=False),
        "masked_lm_positions": positions,
        "masked_lm_ids": targets,
        "masked_lm_weights": weights.astype(jnp.float32),
    }


def left_to_right(rows: dict, kind: Kind) -> dict:
    """Masks nothing: each token sees those before it, and the output at a token predicts the next one."""
    ids, real = rows["input_ids"], rows["attention_mask"] > 0
    at = jnp.arange(kind.tokens)
    before = at[None, :] <= at[:, None]  # (T, T)
    return rows | {
        "attention_mask": (real[:, None] & before).astype(jnp.int32),
        "masked_lm_positions": jnp.broadcast_to(at[:-1], (len(ids), kind.predictions)),
        "masked_lm_ids": ids[:, 1:],
        "masked_lm_weights": real[:, 1:].astype(jnp.float32),
    }
