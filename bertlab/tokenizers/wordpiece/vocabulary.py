"""The vocabulary: a list of tokens, one per line of `vocab.txt`, where the line number is the token's id."""

import codecs
import hashlib
import json
from collections.abc import Iterable
from dataclasses import astuple
from functools import cached_property
from pathlib import Path

from bertlab.common.errors import VocabularyError
from bertlab.common.files import write_bytes
from bertlab.tokenizers.wordpiece.base import AddedToken, TokenTable, byte_content

PAD, UNK, CLS, SEP, MASK = SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_ONE_PER_LINE = "each line holds one token"


class Vocabulary(TokenTable):
    """An ordered set of tokens with BERT's five special tokens among them.

    The special tokens are found by their text, at any id: the multilingual and Chinese vocabularies
    have a hundred [unused] tokens between [PAD] and [UNK].

    pieces: all tokens, in the order of their ids.   where: the words before the number of a token in error messages.
    added: tokens that are read as a whole wherever they occur, each also among `pieces` (see `wordpiece.added`).
    Raises VocabularyError for an empty or repeated token, or a missing special one.

    Example:
        >>> vocabulary = Vocabulary([*SPECIAL_TOKENS, "the", "house"])
        >>> len(vocabulary), vocabulary.index("house"), vocabulary.mask_id
        (7, 6, 4)
    """

    file = "vocab.txt"  # where `save_vocabulary` of the tokenizer writes it

    def __init__(self, pieces: Iterable[str], where: str = "vocabulary, token", added: Iterable[AddedToken] = ()):
        self.pieces = pieces = tuple(pieces)
        self.added = tuple(added)
        self._index = {}
        for number, piece in enumerate(pieces, start=1):
            if not piece:
                raise VocabularyError(f"{where} {number}: empty token; {_ONE_PER_LINE}")
            if "\n" in piece or "\r" in piece:
                raise VocabularyError(f"{where} {number}: {piece!r} contains a line break; {_ONE_PER_LINE}")
            if piece in self._index:
                first = self._index[piece] + 1
                raise VocabularyError(
                    f"{where} {number}: {piece!r} is a duplicate of token {first}; the number of a line is the token's "
                    "id, so that without one of them all later ids would be wrong: take the original file, or replace "
                    f"the second by a text that is no other token, such as [unused {number}]"
                )
            self._index[piece] = number - 1
        missing = [token for token in SPECIAL_TOKENS if token not in self._index]
        if missing:
            raise VocabularyError(
                f"{where} {len(pieces)} is the last one, and {', '.join(missing)} is missing; "
                f"a BERT vocabulary contains {' '.join(SPECIAL_TOKENS)}"
            )
        self._set_special_ids(SPECIAL_TOKENS, where)

    @classmethod
    def from_file(cls, path: str | Path) -> "Vocabulary":
        """Reads `vocab.txt`: UTF-8, one token per line. Raises VocabularyError with the line number."""
        return cls(cls.lines_of(path), f"{path} line")

    @staticmethod
    def lines_of(path: str | Path) -> list[str]:
        """The lines of a vocab.txt, not checked. Raises VocabularyError for a file that is missing or not UTF-8."""
        path = Path(path)
        content = byte_content(path, "; expected a vocab.txt")
        lines = content.split(b"\n")  # not splitlines: the Chinese vocabulary has U+2028 as a token
        lines[0] = lines[0].removeprefix(codecs.BOM_UTF8)  # Windows' editors put it before the first token
        if not lines[-1]:
            lines.pop()
        pieces = []
        for number, line in enumerate(lines, 1):
            try:
                pieces.append(line.removesuffix(b"\r").decode("utf-8"))
            except UnicodeDecodeError as error:
                raise VocabularyError(
                    f"{path} line {number}: not UTF-8 (byte {line[error.start]:#04x}); {_ONE_PER_LINE}, saved as UTF-8"
                ) from error
        return pieces

    def save(self, path: str | Path) -> None:
        """Writes `vocab.txt`: UTF-8, one token per line."""
        write_bytes(path, self._to_bytes(), VocabularyError)

    def _to_bytes(self) -> bytes:
        return "".join(piece + "\n" for piece in self.pieces).encode("utf-8")

    def continues(self, piece: str) -> bool:
        return piece.startswith("##")

    @cached_property
    def own(self) -> "Vocabulary":
        """Without the tokens that were added behind it: those that words are cut into."""
        added, size = {token.text for token in self.added}, len(self)
        while self.pieces[size - 1] in added:
            size -= 1
        return self if size == len(self) else Vocabulary(self.pieces[:size])

    @cached_property
    def longest(self) -> int:
        return max(map(len, self.pieces))

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of the file that `save` writes, and of the added tokens; the same one means the same ids."""
        added = json.dumps([astuple(token) for token in self.added]).encode() if self.added else b""
        return hashlib.sha256(self._to_bytes() + added).hexdigest()
