"""A random model of 2 layers of 16 with a vocabulary of 12 words, for tests of the analysis."""

from bertlab.config import BertConfig
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

WORDS = ["the", "bank", "of", "a", "river", "robin", "is", "bird", ".", "##s", "##ed", "are"]
SIZES = dict(
    vocab_size=len(SPECIAL_TOKENS) + len(WORDS), hidden_size=16, num_layers=2, num_heads=2, intermediate_size=32,
    max_position_embeddings=12,
)  # fmt: skip


def tiny_tokenizer():
    return WordPieceTokenizer(Vocabulary([*SPECIAL_TOKENS, *WORDS]))


def tiny_config(**changes):
    return BertConfig(initializer_range=0.5, **SIZES | changes)


def tiny_model(**changes):
    import keras

    from bertlab.models import PreTrainingModel

    keras.utils.set_random_seed(3)
    return PreTrainingModel(tiny_config(**changes))
