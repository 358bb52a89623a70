"""The vocabulary of a byte-level BPE: its tokens, its merges and its special tokens, in three kinds of files.

vocab.json, merges.txt     GPT-2's and RoBERTa's files; this library writes them too
tokenizer.json             Hugging Face's one file for all of it, and for what the others cannot hold (`one_file.py`)
tokenizer_config.json      the names of the special tokens, if they are not the usual ones
"""

import hashlib
import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from pathlib import Path

from bertlab.common.errors import VocabularyError
from bertlab.common.files import write_text
from bertlab.tokenizers.bpe.chunks import SPACE_CHARACTER, byte_characters
from bertlab.tokenizers.bpe.merging import Merges
from bertlab.tokenizers.protocol import AddedToken, TokenTable, pieces_in_order
from bertlab.tokenizers.wordpiece.added import added_tokens, read_added, with_added

VOCABULARY_FILE, MERGES_FILE, TOKENIZER_JSON = "vocab.json", "merges.txt", "tokenizer.json"
_MERGES_HEADER = "#version: 0.2"


@dataclass(frozen=True)
class SpecialTokens:
    """The texts of the special tokens, by what BERT calls them.

    Example:
        >>> SpecialTokens(mask="[MASK]")
        SpecialTokens(pad='<pad>', unk='<unk>', cls='<s>', sep='</s>', mask='[MASK]')
    """

    pad: str = "<pad>"
    unk: str = "<unk>"
    cls: str = "<s>"
    sep: str = "</s>"
    mask: str = "<mask>"


_END_OF_TEXT = "<|endoftext|>"  # the only special token of GPT-2 stands for all five
_USUAL = (
    SpecialTokens(),
    SpecialTokens("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    SpecialTokens(*[_END_OF_TEXT] * 5),
    SpecialTokens(*["<unk>"] * 5),  # GPT has this one alone
)


def special_tokens(named: Mapping[str, str], tokens: Container[str]) -> SpecialTokens:
    """The names that are given, by what BERT calls them; for the others the usual ones of RoBERTa, BERT, GPT-2 or GPT.

    tokens: those of the vocabulary. With all names given they say nothing.
    """
    usual = next((one for one in _USUAL if one.cls in tokens), SpecialTokens())
    return replace(usual, **named)


class BytePairVocabulary(TokenTable):
    """An ordered set of tokens, the merges that make them, and five special tokens among them.

    Args:
        pieces: all tokens, in the order of their ids; all 256 byte characters are among them.
        merges: (left, right) tokens in the order in which they were learned.
        special: the texts of the special tokens.
        pair_separators: separators between two texts in one row: 2 as in RoBERTa, `<s> a </s> </s> b </s>`.
        added: further tokens that are read as a whole, each also among `pieces`.
        nfc: whether texts are brought into Unicode's form NFC.

    Raises VocabularyError for repeated or missing tokens, or a merge of unknown tokens.

    Example:
        >>> special = ["<pad>", "<unk>", "<s>", "</s>", "<mask>"]
        >>> vocabulary = BytePairVocabulary([*special, *BytePairVocabulary.alphabet, "lo"], [("l", "o")])
        >>> len(vocabulary), vocabulary.index("lo"), vocabulary.mask_id
        (262, 261, 4)
    """

    alphabet: tuple[str, ...] = byte_characters()  # which all have to be tokens

    def __init__(
        self,
        pieces: Iterable[str],
        merges: Iterable[tuple[str, str]],
        special: SpecialTokens | None = None,
        pair_separators: int = 2,
        added: Iterable[AddedToken] = (),
        nfc: bool = False,
        where: str = "vocabulary",
    ):
        self.pieces = tuple(pieces)
        self.merges = Merges(merges)
        self.special = special or SpecialTokens()
        self.pair_separators = pair_separators
        self.added = tuple(added)
        self.nfc = nfc
        self._index = {piece: number for number, piece in enumerate(self.pieces)}
        self._check(where)

    def _check(self, where: str) -> None:
        if len(self._index) < len(self.pieces):
            twice = next(piece for number, piece in enumerate(self.pieces) if self._index[piece] != number)
            raise VocabularyError(f"{where}: {twice!r} is there twice; expected every token once")
        needed = (*astuple(self.special), *self.alphabet, *(token.text for token in self.added))
        lacking = [piece for piece in needed if piece not in self._index]
        if lacking:
            raise VocabularyError(
                f"{where}: {lacking[0]!r} is missing ({len(lacking)} in all); expected "
                f"{' '.join(astuple(self.special))}{' and the 256 byte characters' if self.alphabet else ''}"
            )
        for rank, (left, right) in enumerate(self.merges.pairs, start=1):
            if left + right not in self._index or left not in self._index or right not in self._index:
                raise VocabularyError(
                    f"{where}: merge {rank} makes {left + right!r} of {left!r} and {right!r}, which are not all "
                    "tokens; tokens and merges are not of the same vocabulary"
                )

    # === Files ===

    @property
    def in_one_file(self) -> bool:
        """Whether it has what only a tokenizer.json can hold."""
        return bool(self.added) or self.nfc or self.pair_separators != 2

    @property
    def file(self) -> str:
        """The name of its file; beside vocab.json there are the merges."""
        return TOKENIZER_JSON if self.in_one_file else VOCABULARY_FILE

    @classmethod
    def from_folder(cls, folder: str | Path, named: Mapping[str, str] | None = None, **options) -> "BytePairVocabulary":
        """Reads vocab.json and merges.txt. named: see `special_tokens`. Raises VocabularyError, naming the file."""
        folder = Path(folder)
        path = folder / VOCABULARY_FILE
        numbers = read_json(path)
        try:
            lines = (folder / MERGES_FILE).read_bytes().decode("utf-8").split("\n")  # not splitlines: \x85 is a token
        except OSError as error:
            raise VocabularyError(
                f"{folder / MERGES_FILE}: cannot be read ({error.strerror}); expected it beside {VOCABULARY_FILE}"
            ) from None
        except UnicodeDecodeError as error:
            raise VocabularyError(f"{folder / MERGES_FILE}: not UTF-8 ({error}); copy it again") from None
        if lines[0].startswith("#version"):
            del lines[0]
        pairs = [_pair(line, folder / MERGES_FILE, number) for number, line in enumerate(lines, 2) if line.strip()]
        entries = read_added(folder)
        pieces = with_added(pieces_in_order(numbers, path), entries, path)
        special = special_tokens(named or {}, pieces)
        added = added_tokens(entries, astuple(special), path)
        return cls(pieces, pairs, special, added=added, where=str(path), **options)

    def save(self, folder: str | Path) -> None:
        """Writes vocab.json and merges.txt."""
        numbers, merges = self._texts()
        write_text(Path(folder) / VOCABULARY_FILE, numbers, VocabularyError)
        write_text(Path(folder) / MERGES_FILE, merges, VocabularyError)

    def _texts(self) -> tuple[str, str]:
        numbers = json.dumps(self._index, ensure_ascii=False) + "\n"
        return numbers, "\n".join([_MERGES_HEADER, *(f"{left} {right}" for left, right in self.merges.pairs)]) + "\n"

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of tokens, merges and special tokens; with the same one, two vocabularies give the same ids."""
        parts = [*self._texts(), *astuple(self.special)]
        if self.in_one_file:
            parts.append(json.dumps([self.pair_separators, self.nfc, *map(astuple, self.added)]))
        return hashlib.sha256("\0".join(parts).encode("utf-8")).hexdigest()

    # === Look-up ===

    def __eq__(self, other) -> bool:
        return isinstance(other, BytePairVocabulary) and self.sha256 == other.sha256

    def __hash__(self) -> int:
        return hash(self.sha256)

    def continues(self, piece: str) -> bool:
        """Whether a token continues a word: one that begins a word begins with a space, written Ġ."""
        return not piece.startswith(SPACE_CHARACTER) and piece not in astuple(self.special)

    @property
    def pad_id(self) -> int:
        return self._index[self.special.pad]

    @property
    def unk_id(self) -> int:
        return self._index[self.special.unk]

    @property
    def cls_id(self) -> int:
        return self._index[self.special.cls]

    @property
    def sep_id(self) -> int:
        return self._index[self.special.sep]

    @property
    def mask_id(self) -> int:
        return self._index[self.special.mask]

    @property
    def special_ids(self) -> tuple[int, ...]:
        """Ids of padding, unknown, beginning, separator and mask, in this order."""
        return tuple(self._index[token] for token in astuple(self.special))


def _pair(line: str, path: Path, number: int) -> tuple[str, str]:
    parts = line.removesuffix("\r").split(" ")
    if len(parts) != 2 or not all(parts):
        raise VocabularyError(f"{path} line {number}: expected two tokens with a space between, got {line!r:.60}")
    return parts[0], parts[1]


def read_json(path: Path) -> dict:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise VocabularyError(f"{path}: cannot be read as JSON ({error})") from None
    if not isinstance(values, dict):
        raise VocabularyError(f"{path}: expected a JSON object, got {type(values).__name__}")
    return values
