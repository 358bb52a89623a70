"""Tokenizers: WordPiece with the base class of all, byte-level BPE, SentencePiece, whole words."""
