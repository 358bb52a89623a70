"""BPE through the optional package `tokenizers`: on bytes, as in GPT-2 and its successors (learned, encoded and
decoded, without any unknown text), and on the characters of words, as in GPT.
"""

from bertlab.tokenizers.bpe.tokenizer import BytePairTokenizer, WordPairTokenizer
from bertlab.tokenizers.bpe.vocabulary import BytePairVocabulary, SpecialTokens, WordVocabulary

__all__ = ["BytePairTokenizer", "BytePairVocabulary", "SpecialTokens", "WordPairTokenizer", "WordVocabulary"]
