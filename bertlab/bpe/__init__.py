"""Byte-level BPE, GPT-2's and its successors' tokenizer: learned, encoded and decoded, without any unknown text."""

from bertlab.bpe.tokenizer import BytePairTokenizer
from bertlab.bpe.vocabulary import BytePairVocabulary, SpecialTokens

__all__ = ["BytePairTokenizer", "BytePairVocabulary", "SpecialTokens"]
