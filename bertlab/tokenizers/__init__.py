"""Tokenizers: the protocol that all follow, WordPiece, byte-level BPE, SentencePiece, whole words."""
