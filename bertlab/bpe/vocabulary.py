"""The vocabulary of a byte-level BPE: its tokens, its merges and its special tokens, in three kinds of files.

vocab.json, merges.txt     GPT-2's and RoBERTa's files; this library writes them too
tokenizer.json             Hugging Face's one file for all of it
tokenizer_config.json      the names of the special tokens, if they are not the usual ones
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path

from bertlab.bpe.chunks import SPACE_CHARACTER, byte_characters
from bertlab.bpe.merging import Merges
from bertlab.errors import VocabularyError
from bertlab.files import write_text
from bertlab.tokenizer import TokenTable

VOCABULARY_FILE, MERGES_FILE = "vocab.json", "merges.txt"
_MERGES_HEADER = "#version: 0.2"


@dataclass(frozen=True)
class SpecialTokens:
    """The texts of the special tokens, by what BERT calls them."""

    pad: str = "<pad>"
    unk: str = "<unk>"
    cls: str = "<s>"
    sep: str = "</s>"
    mask: str = "<mask>"


class BytePairVocabulary(TokenTable):
    """An ordered set of tokens, the merges that make them, and five special tokens among them.

    Args:
        pieces: all tokens, in the order of their ids; all 256 byte characters are among them.
        merges: (left, right) tokens in the order in which they were learned.
        special: the texts of the special tokens.
        pair_separators: separators between two texts in one row: 2 as in RoBERTa, `<s> a </s> </s> b </s>`.

    Raises VocabularyError for repeated or missing tokens, or a merge of unknown tokens.
    """

    file = VOCABULARY_FILE  # beside it, the merges

    def __init__(
        self,
        pieces: Iterable[str],
        merges: Iterable[tuple[str, str]],
        special: SpecialTokens | None = None,
        pair_separators: int = 2,
        where: str = "vocabulary",
    ):
        self.pieces = tuple(pieces)
        self.merges = Merges(merges)
        self.special = special or SpecialTokens()
        self.pair_separators = pair_separators
        self._index = {piece: number for number, piece in enumerate(self.pieces)}
        self._check(where)

    def _check(self, where: str) -> None:
        if len(self._index) < len(self.pieces):
            twice = next(piece for number, piece in enumerate(self.pieces) if self._index[piece] != number)
            raise VocabularyError(f"{where}: {twice!r} is there twice; expected every token once")
        lacking = [piece for piece in (*astuple(self.special), *byte_characters()) if piece not in self._index]
        if lacking:
            raise VocabularyError(
                f"{where}: {lacking[0]!r} is missing ({len(lacking)} in all); expected "
                f"{' '.join(astuple(self.special))} and the 256 byte characters"
            )
        for rank, (left, right) in enumerate(self.merges.pairs, start=1):
            if left + right not in self._index or left not in self._index or right not in self._index:
                raise VocabularyError(
                    f"{where}: merge {rank} makes {left + right!r} of {left!r} and {right!r}, which are not all "
                    "tokens; tokens and merges are not of the same vocabulary"
                )

    # === Files ===

    @classmethod
    def from_folder(cls, folder: str | Path, special: SpecialTokens | None = None, **options) -> "BytePairVocabulary":
        """Reads vocab.json and merges.txt. Raises VocabularyError, naming the file."""
        folder = Path(folder)
        path = folder / VOCABULARY_FILE
        numbers = _read_json(path)
        try:
            lines = (folder / MERGES_FILE).read_bytes().decode("utf-8").split("\n")  # not splitlines: \x85 is a token
        except (OSError, UnicodeDecodeError) as error:
            raise VocabularyError(f"{folder / MERGES_FILE}: cannot be read ({error})") from None
        if lines[0].startswith("#version"):
            del lines[0]
        pairs = [_pair(line, folder / MERGES_FILE, number) for number, line in enumerate(lines, 2) if line.strip()]
        return cls(pieces_in_order(numbers, path), pairs, special, where=str(path), **options)

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
        return hashlib.sha256("\0".join([*self._texts(), *astuple(self.special)]).encode("utf-8")).hexdigest()

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


def pieces_in_order(numbers: dict, path: Path) -> list[str]:
    """Tokens in the order of their ids. Raises VocabularyError unless the ids are 0, 1, 2 …, each once."""
    if not numbers or not all(type(number) is int for number in numbers.values()):
        raise VocabularyError(f"{path}: expected an object from tokens to ids, whole numbers")
    if sorted(numbers.values()) != list(range(len(numbers))):
        raise VocabularyError(f"{path}: the ids of the vocabulary are not 0 to {len(numbers) - 1}, each once")
    return sorted(numbers, key=numbers.get)


def _pair(line: str, path: Path, number: int) -> tuple[str, str]:
    parts = line.removesuffix("\r").split(" ")
    if len(parts) != 2 or not all(parts):
        raise VocabularyError(f"{path} line {number}: expected two tokens with a space between, got {line!r:.60}")
    return parts[0], parts[1]


def _read_json(path: Path) -> dict:
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise VocabularyError(f"{path}: cannot be read as JSON ({error})") from None
    if not isinstance(values, dict):
        raise VocabularyError(f"{path}: expected a JSON object, got {type(values).__name__}")
    return values


# === Hugging Face's tokenizer.json ===


def from_tokenizer_json(
    path: str | Path, special: SpecialTokens | None = None
) -> tuple[BytePairVocabulary, dict[str, bool]]:
    """The vocabulary in a tokenizer.json, and the settings of its `BytePairTokenizer`.

    Raises VocabularyError, naming the part, for a file with other steps than those of byte-level BPE.
    """
    path = Path(path)
    values = _read_json(path)
    model, before = values.get("model"), values.get("pre_tokenizer")
    if not isinstance(model, dict) or model.get("type") != "BPE" or not isinstance(model.get("vocab"), dict):
        raise VocabularyError(f"{path}: expected a tokenizer of type 'BPE' with its vocabulary")
    if not isinstance(before, dict) or before.get("type") != "ByteLevel" or before.get("use_regex") is False:
        raise VocabularyError(f"{path}: expected a pre_tokenizer of type 'ByteLevel', found {before!r:.60}")
    for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges", "byte_fallback"):
        if model.get(name):
            raise VocabularyError(f"{path}: {name} {model[name]!r} is not supported, only byte-level BPE without it is")
    if values.get("normalizer") is not None:
        raise VocabularyError(f"{path}: a normalizer is not supported, found {values['normalizer']!r:.60}")
    added = _added_tokens(values, path)
    special = special or SpecialTokens()
    others = [text for text in added if text not in model["vocab"] and text not in astuple(special)]
    if others:
        raise VocabularyError(f"{path}: added token {others[0]!r} is not supported, only special tokens are")
    listed = model.get("merges", [])
    pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in listed] if type(listed) is list else [None]
    if not all(type(pair) is list and len(pair) == 2 and all(type(one) is str for one in pair) for pair in pairs):
        raise VocabularyError(f"{path}: expected merges of two tokens each")
    merges = [tuple(pair) for pair in pairs]
    numbers = model["vocab"] | {text: entry["id"] for text, entry in added.items()}
    after = values.get("post_processor") or {}
    strips = bool(added.get(special.mask, {}).get("lstrip", True))
    settings = {
        "add_prefix_space": bool(before.get("add_prefix_space")),
        "trim_offsets": bool(after.get("trim_offsets")),
        "mask_takes_space": strips,
    }
    return BytePairVocabulary(pieces_in_order(numbers, path), merges, special, where=str(path)), settings


def _added_tokens(values: dict, path: Path) -> dict[str, dict]:
    entries: Sequence = values.get("added_tokens") or []
    if not all(isinstance(one, dict) and isinstance(one.get("content"), str) and "id" in one for one in entries):
        raise VocabularyError(f"{path}: expected added_tokens with content and id each")
    return {one["content"]: one for one in entries}
