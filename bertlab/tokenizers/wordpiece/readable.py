"""Tokens back to text that a person likes to read.

WordPiece forgets where the blanks were around punctuation, so these are rules of English typography, not an inverse.
"""

import re
from collections.abc import Iterable

from bertlab.tokenizers.wordpiece.unicode import is_cjk

_BEFORE_CLOSING = re.compile(r" +([.,!?;:%)\]}”’…])")  # "word ." → "word."
_AFTER_OPENING = re.compile(r"([(\[{“]) +")  # "( word" → "(word"
_CONTRACTION = re.compile(r"(?<=\w) ?(['’]) ?(s|t|d|m|re|ve|ll)\b", re.IGNORECASE)  # "don ' t" → "don't"


def join_pieces(pieces: Iterable[str]) -> str:
    """["don", "'", "t", "em", "##bed", "."] → "don't embed."."""
    text = ""
    for piece in pieces:
        if piece.startswith("##") and text:
            text += piece[2:]
        elif text and is_cjk(text[-1]) and is_cjk(piece[0]):
            text += piece
        else:
            text += " " + piece if text else piece
    text = _CONTRACTION.sub(r"\1\2", text)
    return _AFTER_OPENING.sub(r"\1", _BEFORE_CLOSING.sub(r"\1", text))
