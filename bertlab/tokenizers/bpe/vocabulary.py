"""The vocabulary of a BPE: its tokens, its merges and its special tokens, in three kinds of files.

vocab.json, merges.txt     GPT-2's and RoBERTa's files; this library writes them too
tokenizer.json             Hugging Face's one file for all of it, and for what the others cannot hold
tokenizer_config.json      the names of the special tokens, if they are not the usual ones
"""

import hashlib
import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from functools import cache, cached_property
from pathlib import Path

from bertlab.common.errors import VocabularyError
from bertlab.common.files import read_json, write_text
from bertlab.tokenizers.wordpiece.added import added_tokens, read_added, with_added
from bertlab.tokenizers.wordpiece.base import (
    COPY_IT,
    TOKENIZER_JSON,
    AddedToken,
    TokenTable,
    byte_content,
    pieces_in_order,
    steps_of,
)

VOCABULARY_FILE, MERGES_FILE = "vocab.json", "merges.txt"
SPACE_CHARACTER = "Ġ"  # a space, written as a visible character
WORD_END = "</w>"  # of the last token of a word, in a BPE of words
_MERGES_HEADER = "#version: 0.2"
_OF_OTHER_KINDS = ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges", "byte_fallback")


@cache
def byte_characters() -> tuple[str, ...]:
    """The character that stands for each of the 256 bytes (`encoder.py` of openai/gpt-2).

    A byte that is a visible character of Latin-1 stands for itself; the others, in order, are the characters from
    U+0100.

    Example:
        >>> byte_characters()[ord("a")], byte_characters()[ord(" ")]
        ('a', 'Ġ')
    """
    visible = {*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)}
    others = iter(range(256, 512))
    return tuple(chr(byte if byte in visible else next(others)) for byte in range(256))


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

    pieces: all tokens, in the order of their ids; all 256 byte characters are among them.
    merges: (left, right) tokens in the order in which they were learned.   special: the texts of the special tokens.
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
    has_unknown = False
    word_begin = SPACE_CHARACTER

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
        self.merges = tuple(map(tuple, merges))
        self.special = special or SpecialTokens()
        self.pair_separators = pair_separators
        self.added = tuple(added)
        self.nfc = nfc
        self.pieces = tuple(pieces)
        self._index = {piece: number for number, piece in enumerate(self.pieces)}
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
        for rank, (left, right) in enumerate(self.merges, start=1):
            if not self._index.keys() >= {left, right, left + right}:
                raise VocabularyError(
                    f"{where}: merge {rank} makes {left + right!r} of {left!r} and {right!r}, which are not all "
                    "tokens; tokens and merges are not of the same vocabulary"
                )
        self._set_special_ids(astuple(self.special), where)

    # === Files ===

    @property
    def file(self) -> str:
        """vocab.json, with merges.txt beside it, or where these cannot hold all of it, tokenizer.json."""
        return TOKENIZER_JSON if self.added or self.nfc or self.pair_separators != 2 else VOCABULARY_FILE

    @classmethod
    def from_folder(cls, folder: str | Path, named: Mapping[str, str] | None = None) -> "BytePairVocabulary":
        """Reads vocab.json and merges.txt. named: see `special_tokens`. Raises VocabularyError, naming the file."""
        folder = Path(folder)
        path = folder / VOCABULARY_FILE
        numbers, merges = read_json(path, VocabularyError, COPY_IT, dict), _read_merges(folder / MERGES_FILE)
        entries = read_added(folder)
        return cls._named(with_added(pieces_in_order(numbers, path), entries, path), merges, entries, named, path)

    @classmethod
    def from_tokenizer_json(cls, path: Path, named: Mapping[str, str] | None = None) -> "BytePairVocabulary":
        """Reads the part `model` of Hugging Face's one file, and the added tokens. named: see `special_tokens`.

        Raises VocabularyError, naming the file.
        """
        model = read_json(path, VocabularyError, COPY_IT, dict).get("model")
        if not isinstance(model, dict) or model.get("type") != "BPE" or not isinstance(model.get("vocab"), dict):
            raise VocabularyError(f"{path}: expected a tokenizer of type 'BPE' with its vocabulary")
        listed = model.get("merges", [])
        pairs = [one.split(" ") if isinstance(one, str) else one for one in listed] if type(listed) is list else [None]
        if not all(type(pair) is list and list(map(type, pair)) == [str, str] for pair in pairs):
            raise VocabularyError(f"{path}: expected merges of two tokens each")
        entries = read_added(path.parent)
        numbers = model["vocab"] | {entry["content"]: number for number, entry in entries.items()}
        return cls._named(pieces_in_order(numbers, path), pairs, entries, named, path)

    @classmethod
    def _named(cls, pieces: list[str], merges, entries: dict, named: Mapping[str, str] | None, path: Path):
        special = special_tokens(named or {}, pieces)
        added = added_tokens(entries, astuple(special), path)
        return cls(pieces, merges, special, added=added, where=str(path))

    def save(self, folder: str | Path) -> None:
        numbers, merges = self._texts()
        write_text(Path(folder) / VOCABULARY_FILE, numbers, VocabularyError)
        write_text(Path(folder) / MERGES_FILE, merges, VocabularyError)

    def _texts(self) -> tuple[str, str]:
        numbers = json.dumps(self._index, ensure_ascii=False) + "\n"
        return numbers, "\n".join([_MERGES_HEADER, *(f"{left} {right}" for left, right in self.merges)]) + "\n"

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of tokens, merges and special tokens; with the same one, two vocabularies give the same ids."""
        parts = [*self._texts(), *astuple(self.special)]
        if self.added or self.nfc or self.pair_separators != 2:
            parts.append(json.dumps([self.pair_separators, self.nfc, *map(astuple, self.added)]))
        return hashlib.sha256("\0".join(parts).encode("utf-8")).hexdigest()


class WordVocabulary(BytePairVocabulary):
    """The vocabulary of a BPE of words: its special tokens are all <unk> if it has no other.

    Arguments and errors as in `BytePairVocabulary`, without the 256 byte characters.

    Example:
        >>> vocabulary = WordVocabulary(["<unk>", "l", "o", "w</w>", "lo"], [("l", "o")])
        >>> vocabulary.special_ids
        (0, 0, 0, 0, 0)
    """

    alphabet = ()
    has_unknown = True
    word_begin = ""  # the tokens show where a word ends
    file = VOCABULARY_FILE  # added tokens are in tokenizer_config.json

    def __init__(self, pieces, merges, special: SpecialTokens | None = None, **options):
        pieces = tuple(pieces)
        super().__init__(pieces, merges, special or special_tokens({}, pieces), **options)


def _read_merges(path: Path) -> list[tuple[str, str]]:
    """The pairs in a merges.txt. Raises VocabularyError with the number of any other line."""
    content = byte_content(path, f"; expected it beside {VOCABULARY_FILE}")
    try:
        lines = content.decode("utf-8").split("\n")  # not splitlines: \x85 is a token
    except UnicodeDecodeError as error:
        raise VocabularyError(f"{path}: not UTF-8 ({error}); copy it again") from None
    pairs = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or (number == 1 and line.startswith("#version")):
            continue
        parts = line.removesuffix("\r").split(" ")
        if len(parts) != 2 or not all(parts):
            raise VocabularyError(f"{path} line {number}: expected two tokens with a space between, got {line!r:.60}")
        pairs.append((parts[0], parts[1]))
    return pairs


# === tokenizer.json of byte-level BPE ===


def from_tokenizer_json(path: Path, named: Mapping[str, str]) -> tuple[BytePairVocabulary, dict[str, bool]]:
    """The vocabulary in a tokenizer.json, and the settings of its `BytePairTokenizer`.

    named: names of special tokens; see `special_tokens`.
    Raises VocabularyError, naming the part, for a file with other steps than those of GPT-2, RoBERTa and ModernBERT.
    """
    vocabulary, values = BytePairVocabulary.from_tokenizer_json(path, named), read_json(path)
    before = values.get("pre_tokenizer")
    if not isinstance(before, dict) or before.get("type") != "ByteLevel" or before.get("use_regex") is False:
        raise VocabularyError(f"{path}: expected a pre_tokenizer of type 'ByteLevel', found {before!r:.60}")
    for name in _OF_OTHER_KINDS:
        if value := values["model"].get(name):
            raise VocabularyError(f"{path}: {name} {value!r} is not supported, only byte-level BPE without it is")
    normalizers = steps_of(values.get("normalizer"), "normalizers")
    if any(step != {"type": "NFC"} for _, step in normalizers):
        raise VocabularyError(f"{path}: the normalizer {values['normalizer']!r:.60} is not supported, only NFC is")
    vocabulary.nfc = bool(normalizers)
    processors = steps_of(values.get("post_processor"), "processors")
    for kind, step in processors:
        if kind == "TemplateProcessing":
            vocabulary.pair_separators = _separators_in(step, vocabulary, path)
        elif kind not in ("RobertaProcessing", "ByteLevel"):
            raise VocabularyError(f"{path}: the post_processor {step!r:.60} is not supported")
    masks = [entry for entry in read_added(path.parent).values() if entry["content"] == vocabulary.special.mask]
    return vocabulary, {
        "add_prefix_space": bool(before.get("add_prefix_space")),
        "trim_offsets": any(step.get("trim_offsets") for _, step in processors),
        "mask_takes_space": all(entry.get("lstrip") for entry in masks),
    }


def _separators_in(template: dict, vocabulary: BytePairVocabulary, path: Path) -> int:
    """1 of `[CLS] A [SEP] B [SEP]`, 2 of `<s> A </s> </s> B </s>`, and of GPT-2's texts without a token around them."""
    cls, sep = vocabulary.special.cls, vocabulary.special.sep
    try:
        pair = [one["SpecialToken"]["id"] if "SpecialToken" in one else one["Sequence"] for one in template["pair"]]
        names = [one if isinstance(one, str) else f"${one['id']}" for one in pair]
    except (KeyError, TypeError):
        names = []
    if names == ["$A", "$B"]:
        return 2  # rows have the special tokens here too, as those of a vocab.json
    for count in (1, 2):
        if names == [cls, "$A", *[sep] * count, "$B", sep]:
            return count
    raise VocabularyError(
        f"{path}: the post_processor puts a pair of texts together as {' '.join(names)!r}; expected "
        f"'{cls} $A {sep} $B {sep}', or two {sep} between them"
    )
