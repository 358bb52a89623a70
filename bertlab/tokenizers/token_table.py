"""The base of the vocabularies of all kinds of tokenizers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bertlab.common.errors import VocabularyError


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

    A subclass sets `pieces` and `_index`, calls `_set_special_ids`, and defines `continues`, whether a token continues
    a word, and `sha256`, a fingerprint of all that it consists of.
    """

    file: str  # its name beside examples
    pieces: tuple[str, ...]  # the token of each id
    special_ids: tuple[int, ...]  # of padding, unknown, [CLS], [SEP], [MASK] and others
    pair_separators: int  # between two texts in one row
    cls_last: bool = False  # whether [CLS] is the last token of a row, in a segment of its own, 2, instead of the first
    added: tuple[AddedToken, ...] = ()  # tokens beside those of the model's own vocabulary, each also among `pieces`
    sha256: str
    _index: dict[str, int]  # token → id

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
