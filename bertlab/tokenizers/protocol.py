"""The protocol of a tokenizer, independent of its algorithm: WordPiece, byte-level BPE and SentencePiece implement it.

A family names the kind of tokenizer that its checkpoints come with; `bertlab.checkpoints.load_tokenizer` chooses by it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bertlab.common.errors import VocabularyError


class TokenVocabulary(Protocol):
    """The tokens and their ids. `pieces[i]` is the token of id i; `special_ids`: of [CLS], [MASK] and others."""

    pieces: tuple[str, ...]

    file: str  # its name beside examples
    pair_separators: int  # between two texts in one row
    cls_last: bool  # whether [CLS] is the last token of a row, in a segment of its own, 2, instead of the first

    def __len__(self) -> int: ...
    def __contains__(self, token: str) -> bool: ...
    def index(self, token: str) -> int: ...
    def continues(self, token: str) -> bool: ...


@dataclass(frozen=True)
class AddedToken:
    """A text that is one token wherever it occurs (see `bertlab.tokenizers.wordpiece.added`).

    special: `decode` leaves it out.   normalized: looked for after normalisation, not before it.
    """

    text: str
    special: bool = False
    normalized: bool = True


class TokenTable:
    """Look-up in a vocabulary of any kind.

    A subclass sets `pieces`, its tokens, `_index`, token → id, calls `_set_special_ids`, and defines `sha256`, a
    fingerprint of all that it consists of.
    """

    pieces: tuple[str, ...]
    sha256: str
    added: tuple[AddedToken, ...] = ()  # tokens beside those of the model's own vocabulary, each also among `pieces`
    cls_last: bool = False
    _index: dict[str, int]

    def _set_special_ids(self, special: Iterable[str]) -> None:
        """Sets the ids of padding, unknown, [CLS], [SEP] and [MASK], whose texts are given in this order."""
        self.special_ids = tuple(map(self.index, special))
        self.pad_id, self.unk_id, self.cls_id, self.sep_id, self.mask_id = self.special_ids

    def __eq__(self, other) -> bool:
        return type(other) is type(self) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    @property
    def ids(self) -> Mapping[str, int]:
        """token → id, of all tokens."""
        return self._index

    def __len__(self) -> int:
        return len(self.pieces)

    def __contains__(self, piece: str) -> bool:
        return piece in self._index

    @property
    def targets(self) -> "TokenTable":
        """The tokens of targets, in translation: these, unless sources and targets have a vocabulary each."""
        return self

    def index(self, piece: str) -> int:
        """The id of a token. Raises VocabularyError if there is no such token."""
        try:
            return self._index[piece]
        except KeyError:
            raise VocabularyError(f"{piece!r} is not among the {len(self)} tokens of this vocabulary") from None

    @property
    def marker_ids(self) -> set[int]:
        """Ids of all special tokens, those that were added too."""
        return {*self.special_ids, *(self._index[token.text] for token in self.added if token.special)}

    def get(self, piece: str, default: int | None = None) -> int | None:
        """The id of a token, or the default if there is no such token."""
        return self._index.get(piece, default)


def pieces_in_order(numbers: Mapping[str, int], path: Path) -> list[str]:
    """Tokens in the order of their ids. Raises VocabularyError unless the ids are 0, 1, 2 …, each once."""
    if not numbers or not all(type(number) is int for number in numbers.values()):
        raise VocabularyError(f"{path}: expected an object from tokens to ids, whole numbers")
    if sorted(numbers.values()) != list(range(len(numbers))):
        raise VocabularyError(f"{path}: the ids of the vocabulary are not 0 to {len(numbers) - 1}, each once")
    return sorted(numbers, key=numbers.get)


@runtime_checkable
class Tokenizer(Protocol):
    """Text into ids and back. In every method that reads text, `special_tokens=True` reads "[MASK]" as that token.

    Example:
        >>> from bertlab.checkpoints import load_tokenizer
        >>> tokenizer = load_tokenizer("bertlab-mini")
        >>> isinstance(tokenizer, Tokenizer)
        True
        >>> tokenizer.decode(tokenizer.encode("A small house."))
        'a small house.'
    """

    vocabulary: Any  # a `TokenVocabulary`
    kind: str  # a key of `bertlab.tokenizers.kinds`
    word_prefix: str  # put before each of several words or sentences that are encoded one by one, save the first

    def tokenize(self, text: str, special_tokens: bool = False) -> list[str]:
        """The tokens of a text."""

    def encode(self, text: str, special_tokens: bool = False) -> list[int]:
        """The ids of a text, without the special tokens around it."""

    def encode_with_offsets(self, text: str, special_tokens: bool = False) -> Any:
        """Ids, tokens, the characters (start, end) of each and the word it belongs to: an `Encoding`."""

    def encode_batch(self, texts: Iterable[str], special_tokens: bool = False) -> Any:
        """The ids of many texts as `Ragged`: values (N,) int32 and row_splits (rows + 1,) int64."""

    def encode_targets(self, texts: Iterable[str]) -> Any:
        """The same of texts that are targets, which a tokenizer for translation cuts in another way."""

    def encode_batch_with_offsets(self, texts: Iterable[str], special_tokens: bool = False) -> Any:
        """The same with offsets (N, 2) and word_ids (N,): a `RaggedEncoding`."""

    def pack(self, ids_a: Sequence[int], ids_b: Sequence[int] | None = None, max_length: int | None = None) -> dict:
        """One row of the model's input: input_ids, token_type_ids, attention_mask, each (T,) int32."""

    def encode_packed(
        self,
        texts: Iterable[str],
        texts_b: Iterable[str] | None = None,
        max_length: int | None = None,
        special_tokens: bool = False,
    ) -> dict[str, np.ndarray]:
        """The model's input for many texts or pairs, padded: each (B, T) int32."""

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = True) -> str:
        """Readable text."""

    def settings(self) -> dict[str, Any]:
        """The arguments beside the vocabulary, as JSON values."""

    def save_vocabulary(self, folder: str | Path) -> None:
        """Writes the files that examples made with it need."""

    def save(self, folder: str | Path) -> None:
        """Writes the files from which `load_tokenizer` makes it again."""
