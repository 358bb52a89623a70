"""The settings for learning vectors of words. Defaults: those of word2vec's program where it has the same setting.

Its learning rate, 0.025, is one of SGD with an update for each pair; here Adagrad updates once for a batch. Vectors of
the built-in corpus that were learned with 0.2 served a classifier better than those learned with 0.05.
"""

from dataclasses import dataclass

from bertlab.common.settings import Settings, setting

KINDS = ("skip-gram", "cbow")


@dataclass(frozen=True)
class Word2VecSettings(Settings):
    """Everything that `learn_word_vectors` can be told.

    Raises ConfigError for values outside their limits.

    Example:
        settings = Word2VecSettings("cbow", word_size=300, window=8)
    """

    kind: str = setting(
        "skip-gram", "Predict a word from each word in its window (skip-gram), or from their mean (cbow).",
        choices=KINDS,
    )  # fmt: skip
    word_size: int = setting(128, "Dimensions of a word's vector.", at_least=1)
    window: int = setting(
        5, "Largest number of words on each side; for each position a number from 1 to this is drawn.", at_least=1
    )
    negatives: int = setting(5, "Number of words drawn to be told from the true one.", at_least=1)
    power: float = setting(0.75, "Power of a word's count that negatives are drawn by.", at_least=0, at_most=1)
    subsampling: float = setting(
        1e-3, "Fraction of the text above which a word is read less often; 0 reads all.", at_least=0, at_most=1
    )
    min_count: int = setting(5, "Times that a word has to be in the text; others are left out.", at_least=1)
    most_words: int = setting(200_000, "Largest number of words, the most frequent ones.", at_least=2)
    lowercase: bool = setting(
        True, "Read capital letters as small ones, without accents.", option="--lowercase/--cased"
    )
    epochs: int = setting(5, "Number of passes over the text.", at_least=1)
    learning_rate: float = setting(0.2, "Learning rate of Adagrad at the start; it falls to 0.", above=0)
    batch_size: int = setting(1024, "Positions of the text per update.", at_least=1)
    seed: int = setting(1, "Random seed.", at_least=0, at_most=2**32 - 1)
    interval: int = setting(1000, "Updates between two saved states: a kill loses no more than these.", at_least=1)
