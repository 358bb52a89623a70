"""The kinds of baseline and their sizes."""

from dataclasses import dataclass

from bertlab.common.settings import Settings, setting
from bertlab.families import family, model_types

BAGS = ("bow", "tfidf")  # linear models of the words that a text contains
RECURRENT = ("rnn", "lstm", "gru", "bilstm")
KINDS = (*BAGS, "cbow", *RECURRENT)  # trained from random values
# Language models of LSTMs in both directions, frozen: a kind for each such family, by its name.
FROZEN = tuple(name for name in model_types() if family(name).both_directions)
ALL_KINDS = (*KINDS, *FROZEN)

# The default settings of each kind. A linear model learns with a rate at which a network does not.
RECIPES = {
    "bow": {"learning_rate": 3e-2, "epochs": 15},
    "tfidf": {"learning_rate": 1e-1, "epochs": 15},
    "cbow": {"learning_rate": 1e-2, "epochs": 10},
    **{kind: {"learning_rate": 3e-3, "epochs": 8} for kind in (*RECURRENT, *FROZEN)},
    "bilstm": {"learning_rate": 1e-2, "epochs": 8},
}


@dataclass(frozen=True)
class BaselineSettings(Settings):
    """The sizes of a baseline, and how it reads words.

    Example:
        settings = BaselineSettings(units=256, recurrent_layers=2)
    """

    word_size: int = setting(128, "Dimensions of a word's vector.", at_least=1)
    units: int = setting(128, "Units of each recurrent layer, in each direction.", at_least=1)
    recurrent_layers: int = setting(1, "Number of recurrent layers.", at_least=1, rare=True)
    head_dropout: float = setting(0.3, "Dropout before each layer behind the vectors.", at_least=0, below=1, rare=True)
    min_count: int = setting(
        2, "Times that a word has to be in the training rows; others are [UNK].", at_least=1, rare=True
    )
    most_words: int = setting(30_000, "Largest number of words, the most frequent ones.", at_least=1, rare=True)
    lowercase: bool = setting(
        True, "Read capital letters as small ones, without accents.", option="--lowercase/--cased", rare=True
    )


def settings_read(kind: str, tokenizer: bool = False, word_vectors: bool = False) -> tuple[str, ...]:
    """The fields of `BaselineSettings` that have an effect.

    tokenizer: whether words are read by a given tokenizer. word_vectors: whether they begin with given vectors.

    Example:
        >>> settings_read("cbow", tokenizer=True)
        ('word_size', 'head_dropout')
    """
    if kind in FROZEN:
        return ("units", "recurrent_layers", "head_dropout")
    names = () if kind in BAGS else ("head_dropout",) if word_vectors else ("word_size", "head_dropout")
    if kind in RECURRENT:
        names += ("units", "recurrent_layers")
    return names if tokenizer else (*names, "min_count", "most_words", "lowercase")


@dataclass(frozen=True)
class BaselineConfig:
    """All that a baseline's layers are made from, kept beside its weights.

    kind: one of `KINDS`. pair: whether a row has two texts. tags: whether each token has outputs of its own.
    outputs: C, the classes, or 1 for a number or for the score of a choice. special_ids: tokens that are not words.
    """

    kind: str
    vocab_size: int
    special_ids: tuple[int, ...]
    outputs: int
    pair: bool = False
    tags: bool = False
    word_size: int = 128
    units: int = 128
    recurrent_layers: int = 1
    head_dropout: float = 0.3

    max_tokens = 1 << 30  # none of these kinds has positions
    num_layers = 0  # of a transformer's encoder
