"""The library's version of the names that notebook 01 defines."""

import functools
from collections.abc import Mapping

import numpy as np

from bertlab.tokenizers.wordpiece import Vocabulary, WordPieceTokenizer, basic
from bertlab.tokenizers.wordpiece.encoding import Ragged, pack_rows, truncated_lengths

__all__ = ["pack", "split_punctuation", "strip_accents", "tokenize", "truncate_pair", "wordpiece"]


class _AnyVocabulary(Vocabulary):
    """A dict from token to number as a `Vocabulary`; the numbers may be any, and special tokens may be missing."""

    def __init__(self, numbers: Mapping[str, int]):
        self._index = numbers
        self.pieces = tuple(numbers)

    unk_id = 0  # as all numbers of `_tokenizer`
    pad_id = property(lambda self: self.index("[PAD]"))
    cls_id = property(lambda self: self.index("[CLS]"))
    sep_id = property(lambda self: self.index("[SEP]"))


@functools.lru_cache(maxsize=8)
def _tokenizer(pieces: tuple[str, ...], lower_case: bool = True) -> WordPieceTokenizer:
    """The library's tokenizer for these tokens; splitting needs no numbers."""
    return WordPieceTokenizer(_AnyVocabulary(dict.fromkeys(pieces, 0)), lowercase=lower_case)


def _characters(text: str) -> basic.Chars:
    return [(character, index) for index, character in enumerate(text)]


def strip_accents(text: str) -> str:
    """Lower case without nonspacing marks."""
    return "".join(character for character, _ in basic.strip_accents(basic.lower(_characters(text))))


def split_punctuation(word: str) -> list[str]:
    """The parts of a word; every punctuation character is one."""
    return [part.text for part in basic.split_punctuation(_characters(word))]


def wordpiece(word: str, vocabulary: dict[str, int]) -> list[str]:
    """A word's tokens, or ["[UNK]"]. vocabulary: token → number."""
    return _tokenizer(tuple(vocabulary)).split_word(word)


def tokenize(text: str, vocabulary: dict[str, int], lower_case: bool = True) -> list[str]:
    """A text's tokens, without special ones. vocabulary: token → number."""
    return _tokenizer(tuple(vocabulary), lower_case).tokenize(text)


def truncate_pair(first: list[str], second: list[str], room: int) -> tuple[list[str], list[str]]:
    """Both lists shortened to at most `room` together: the longer one from its end, of equally long ones the second."""
    if len(first) + len(second) <= room:
        return list(first), list(second)
    kept_first, kept_second = truncated_lengths(len(first), len(second), room)
    return first[:kept_first], second[:kept_second]


def pack(first: list[str], second: list[str] | None, vocabulary: dict[str, int], length: int) -> dict[str, list[int]]:
    """One row of BERT's input from lists of *tokens*: [CLS] first [SEP] or [CLS] first [SEP] second [SEP], padded.

    second may be None. vocabulary: token → number, with the special tokens in it.
    returns {"token_ids", "token_type_ids", "attention_mask"}, each a list of `length` whole numbers
    """
    rows = []
    for pieces in (first, second):
        numbers = np.array([vocabulary[piece] for piece in pieces or ()], np.int32)
        rows.append(None if pieces is None else Ragged(numbers, np.array([0, len(numbers)])))
    packed = pack_rows(_AnyVocabulary(vocabulary), *rows, length)
    names = {"token_ids": "input_ids", "token_type_ids": "token_type_ids", "attention_mask": "attention_mask"}
    return {ours: packed[theirs][0].tolist() for ours, theirs in names.items()}
