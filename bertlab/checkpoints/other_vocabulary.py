"""A trained model with another vocabulary: a new token starts with what the old tokens of its text have learned.

A token that the old vocabulary has, too, keeps its vector. Any other one gets the mean vector of the old tokens into
which its text splits (Gee et al. 2022, "Fast Vocabulary Transfer for Language Model Compression", section 3). Then
train the model further: the new vectors are only a start, and the encoder has never read such rows.

Letters: V tokens, H hidden size.
"""

from dataclasses import dataclass

import keras
import numpy as np
from keras import ops

from bertlab.common.errors import CheckpointError
from bertlab.models.outline import outline
from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer
from bertlab.tokenizers.wordpiece.vocabulary import UNK


@dataclass(frozen=True)
class NewTokens:
    """The numbers of tokens of a new vocabulary, by the origin of their vectors.

    same: the old vocabulary has the token.   means: mean of several old tokens.   initial: the old vocabulary cannot
    write the token, so its vector is drawn as in a new model.
    """

    same: int
    means: int
    initial: int

    def __str__(self) -> str:
        return (
            f"{self.same + self.means + self.initial:,} tokens: {self.same:,} keep their vector, {self.means:,} start "
            f"with a mean of old tokens' vectors, {self.initial:,} with a random one"
        )


def with_vocabulary(model, tokenizer: WordPieceTokenizer, vocabulary: Vocabulary, seed: int = 0):
    """(new model, its tokenizer, a `NewTokens`): the same weights, with the rows of another vocabulary.

    model: of a family that reads WordPiece.   tokenizer: the model's own; the new one has its settings.
    seed: of the random vectors, for tokens that the old vocabulary cannot write.
    Raises CheckpointError for a tokenizer of another kind, or a model with a table of targets.

    Example:
        >>> from bertlab import checkpoints
        >>> from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS
        >>> model, tokenizer = checkpoints.load("bertlab-mini"), checkpoints.load_tokenizer("bertlab-mini")
        >>> new = Vocabulary([*SPECIAL_TOKENS, "the", "unhappiness"])
        >>> smaller, its_tokenizer, counts = with_vocabulary(model, tokenizer, new)
        >>> smaller.config.vocab_size, its_tokenizer.tokenize("The unhappiness")
        (7, ['the', 'unhappiness'])
        >>> print(counts)
        7 tokens: 6 keep their vector, 1 start with a mean of old tokens' vectors, 0 with a random one
    """
    if not isinstance(tokenizer, WordPieceTokenizer):
        raise CheckpointError(f"expected a model that reads WordPiece, got one that reads {tokenizer.kind}")
    if model.config.target_vocab_size != model.config.vocab_size:
        raise CheckpointError("expected a model with one vocabulary, got one with a vocabulary of its own for targets")
    shares = [_old_ids(piece, tokenizer) for piece in vocabulary.pieces]
    keras.utils.set_random_seed(seed)
    new = _resized(model, len(vocabulary), vocabulary.pad_id)
    longer = outline(lambda: _resized(model, model.config.vocab_size + 1, 0))
    for ours, theirs, other in zip(new.variables, model.variables, longer.variables, strict=True):
        axes = [axis for axis, (old, more) in enumerate(zip(theirs.shape, other.shape)) if old != more]
        value = ops.convert_to_numpy(theirs)
        ours.assign(_rows(ops.convert_to_numpy(ours), value, shares, axes[0]) if axes else value)
    counts = NewTokens(*(sum(map(kind, shares)) for kind in (
        lambda ids: len(ids) == 1, lambda ids: len(ids) > 1, lambda ids: not ids
    )))  # fmt: skip
    settings = tokenizer.settings()
    return new, WordPieceTokenizer(vocabulary, **settings), counts


def _resized(model, tokens: int, pad_id: int):
    """A new model of the same kind, in float32, with `tokens` tokens."""
    options = model.get_config()
    options["config"] |= {"vocab_size": tokens, "pad_token_id": pad_id}
    return type(model).from_config({**options, "dtype": "float32"})


def _old_ids(piece: str, tokenizer: WordPieceTokenizer) -> list[int]:
    """The old ids of a new token's text; [] if the old vocabulary cannot write it."""
    old = tokenizer.vocabulary
    if piece in old:
        return [old.index(piece)]
    continues = old.continues(piece)
    parts = tokenizer.split_word(piece.removeprefix("##") if continues else piece, continues)
    return [] if UNK in parts else [old.index(part) for part in parts]


def _rows(new: np.ndarray, old: np.ndarray, shares: list[list[int]], axis: int) -> np.ndarray:
    """`new` with the rows that old ones give. axis: that of V in a table (V, H), a bias (V,) or a matrix (H, V)."""
    new, old = np.moveaxis(new, axis, 0).copy(), np.moveaxis(old, axis, 0)
    for row, ids in enumerate(shares):
        if ids:
            new[row] = old[ids].mean(axis=0)
    return np.moveaxis(new, 0, axis)
