"""`bertlab.tokenizers.wordpiece.unicode` as arrays indexed by code point, for use inside a TensorFlow graph.

Most of the 1,114,112 code points have nothing of interest, so an array is stored as distinct blocks of 256 and a list
with the position of each block: a few hundred kilobytes instead of megabytes.
"""

import sys
from functools import cache

import numpy as np
import tensorflow as tf

from bertlab.tokenizers.wordpiece import unicode

# Properties of a code point, one bit each; the higher bits hold the combining class.
DROPPED, SPACE, CJK, PUNCTUATION, MARK, CASED, IGNORABLE = (1 << bit for bit in range(7))
_CLASS = 256
_BLOCK = 256
# An expansion is where it begins in the pool, times 16, plus its length; 0: the character itself.
_LENGTHS = 16
_CODE_POINTS = sys.maxunicode + 1


class CodePointTables:
    """The code point tables of the in-graph form; code points are (n,) int32.

    lowercase, strip_accents: which of the two `expand` does.
    """

    def __init__(self, lowercase: bool, strip_accents: bool):
        self._properties = BlockTable(_properties())
        expansions = dict(_expansions(lowercase, strip_accents))
        self._expansions = BlockTable(_packed(expansions))
        self._pool = tf.constant([ord(char) for text in expansions.values() for char in text] or [0], tf.int32)

    def properties(self, codes: tf.Tensor) -> tf.Tensor:
        """The property bits and combining class of each code point, to be asked with `has` and `combining_class`."""
        return self._properties(codes)

    def expand(self, codes: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Replaces each code point by its lower case and decomposition.

        Returns the new code points (m,) and the index of the old one that each came from (m,).
        """
        packed = self._expansions(codes)  # (n,)
        lengths = tf.maximum(packed % _LENGTHS, 1)  # (n,)
        sources = tf.repeat(tf.range(tf.size(codes)), lengths)  # (m,)
        within = tf.range(tf.size(sources)) - tf.gather(tf.cumsum(lengths, exclusive=True), sources)  # (m,)
        packed = tf.gather(packed, sources)  # (m,)
        from_pool = tf.gather(self._pool, packed // _LENGTHS + within)
        return tf.where(packed == 0, tf.gather(codes, sources), from_pool), sources


@cache
def code_point_tables(lowercase: bool, strip_accents: bool) -> CodePointTables:
    """The tables for these settings; filling them takes a second, so it is done once."""
    return CodePointTables(lowercase, strip_accents)


class BlockTable:
    """An int32 array over all code points, stored as distinct blocks."""

    def __init__(self, values: np.ndarray):
        blocks, block_of = np.unique(values.reshape(-1, _BLOCK), axis=0, return_inverse=True)
        self._values = tf.constant(blocks.ravel(), tf.int32)
        self._block_of = tf.constant(block_of.ravel(), tf.int32)

    def __call__(self, codes: tf.Tensor) -> tf.Tensor:
        block = tf.gather(self._block_of, codes // _BLOCK)
        return tf.gather(self._values, block * _BLOCK + codes % _BLOCK)


def has(properties: tf.Tensor, bits: int) -> tf.Tensor:
    """Whether any of these property bits is set, (n,) bool."""
    return (properties & bits) != 0


def combining_class(properties: tf.Tensor) -> tf.Tensor:
    """The canonical combining class, (n,) int32; 0 for everything but combining characters."""
    return properties // _CLASS


def _properties() -> np.ndarray:
    table = np.zeros(_CODE_POINTS, np.int32)
    bits = {
        DROPPED: unicode.DROPPED,
        SPACE: unicode.WHITESPACE,
        PUNCTUATION: unicode.PUNCTUATION,
        MARK: unicode.NONSPACING_MARKS,
        CASED: unicode.CASED,
        IGNORABLE: unicode.CASE_IGNORABLE,
    }
    for bit, chars in bits.items():
        table[[ord(char) for char in chars]] |= bit
    for first, last in unicode.CJK_RANGES:
        table[first : last + 1] |= CJK
    for char, number in unicode.COMBINING_CLASS.items():
        table[ord(char)] |= number * _CLASS
    return table


def _expansions(lowercase: bool, strip_accents: bool):
    """(character, what becomes of it) for all characters that change."""
    for code in range(_CODE_POINTS):
        char = text = chr(code)
        if lowercase:
            text = unicode.LOWERCASE.get(char, char)
        if strip_accents:
            text = "".join(unicode.decompose(part) for part in text)
        if text != char:
            yield char, text


def _packed(expansions: dict[str, str]) -> np.ndarray:
    table = np.zeros(_CODE_POINTS, np.int32)
    start = 0
    for char, text in expansions.items():
        table[ord(char)] = start * _LENGTHS + len(text)
        start += len(text)
    return table
