"""WordPiece, BERT's tokenizer: exact to the last code point, in a readable, a batch and an in-graph form."""

from bertlab.tokenizers.wordpiece.basic import BasicTokenizer
from bertlab.tokenizers.wordpiece.encoding import Encoding, Ragged, RaggedEncoding
from bertlab.tokenizers.wordpiece.tokenizer import WordPieceTokenizer
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, Vocabulary

__all__ = [
    "SPECIAL_TOKENS",
    "BasicTokenizer",
    "Encoding",
    "Ragged",
    "RaggedEncoding",
    "Vocabulary",
    "WordPieceTokenizer",
]
