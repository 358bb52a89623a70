"""A tokenizer for models that read whole words by their characters: a text is cut at its spaces, and nowhere else.

The text should be cut into words already, as in the Penn Treebank: "do n't stop ." Capitals stay. The vocabulary is a
list of words, words.txt, one on each line; the published lists begin with <S>, </S> and <UNK>.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bertlab.common.errors import VocabularyError
from bertlab.common.files import write_text
from bertlab.tokenizers.wordpiece.base import Tokenizer, TokenTable, byte_content
from bertlab.tokenizers.wordpiece.encoding import Encoding

WORDS_FILE = "words.txt"
PAD, UNK, BEGIN, END, MASK = SPECIAL = ("<PAD>", "<UNK>", "<S>", "</S>", "<MASK>")
_WORD = re.compile(r"\S+")


class WordList(TokenTable):
    """The special tokens, then the words in their order.

    words: without spaces, each once; special tokens among them are left out, as they come first anyway.
    Raises VocabularyError for a word that is empty, has a space in it or is there twice.

    Example:
        >>> WordList(["<S>", "the", "river"]).pieces[5:]
        ('the', 'river')
    """

    file = WORDS_FILE

    def __init__(self, words: Iterable[str], where: str = "words"):
        words = [word for word in words if word not in SPECIAL]
        self.pieces = (*SPECIAL, *words)
        self._index = {}
        for number, word in enumerate(self.pieces):
            if not _WORD.fullmatch(word):
                raise VocabularyError(f"{where}: expected words without spaces, got {word!r}")
            if self._index.setdefault(word, number) != number:
                raise VocabularyError(
                    f"{where}: expected each word once, got {word!r} twice; restore the file of a trained model "
                    "(without a line, all later words would have other ids); for a new model delete one of them"
                )
        self._set_special_ids(SPECIAL, where)

    @classmethod
    def from_file(cls, path: str | Path) -> "WordList":
        """Reads words.txt: UTF-8, a word on each line; a byte order mark is left out.

        Raises VocabularyError, naming the file.
        """
        try:
            text = byte_content(Path(path), "; expected a word on each line").decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise VocabularyError(f"{path}: expected UTF-8 ({error.reason} at byte {error.start})") from None
        return cls([line for line in text.replace("\r\n", "\n").split("\n") if line], str(path))

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256("\n".join(self.pieces).encode("utf-8")).hexdigest()


@dataclass(eq=False)
class WordTokenizer(Tokenizer):
    """Cuts a text at its spaces. A word that is not in the list is <UNK>.

    Example:
        >>> tokenizer = WordTokenizer(WordList(["the", "river", "."]))
        >>> tokenizer.tokenize("the river sings .")
        ['the', 'river', '<UNK>', '.']
    """

    vocabulary: WordList

    kind = "whole words"

    def encode(self, text: str, special_tokens: bool = False) -> list[int]:
        """The id of each word. special_tokens: read "<MASK>" and "[MASK]" as that token, not as a word."""
        return [self._id(word, special_tokens) for word in text.split()]

    def encode_with_offsets(self, text: str, special_tokens: bool = False) -> Encoding:
        found = list(_WORD.finditer(text))
        ids = [self._id(word.group(), special_tokens) for word in found]
        return Encoding.of(ids, self.vocabulary.pieces, [word.span() for word in found], range(len(found)))

    def _id(self, word: str, special_tokens: bool) -> int:
        if special_tokens and word == "[MASK]":
            return self.vocabulary.mask_id
        found = self.vocabulary.ids.get(word, self.vocabulary.unk_id)
        return found if special_tokens or found >= len(SPECIAL) else self.vocabulary.unk_id

    def _text_of(self, ids: list[int]) -> str:
        return " ".join(self.vocabulary.pieces[number] for number in ids)

    def _write(self, folder: Path) -> None:
        write_text(folder / WORDS_FILE, "\n".join(self.vocabulary.pieces) + "\n", VocabularyError)

    @classmethod
    def load(cls, folder: str | Path) -> "WordTokenizer":
        """Reads words.txt. Raises VocabularyError, naming the file."""
        return cls(WordList.from_file(Path(folder) / WORDS_FILE))
