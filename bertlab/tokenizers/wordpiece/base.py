"""The part that all tokenizers share: look-up of tokens, packing, batches one text after the other, ids to text."""

import json
import re
from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar

import numpy as np

from bertlab.common.errors import ConfigError, DataError, MissingDependencyError, VocabularyError
from bertlab.common.files import read_json, write_text
from bertlab.tokenizers.wordpiece.encoding import Encoding, Ragged, RaggedEncoding, pack_rows, special_count

CONFIG_FILE, TOKENIZER_JSON = "tokenizer_config.json", "tokenizer.json"
COPY_IT = "copy the original again"  # the advice for a damaged file of a tokenizer
_IN_JSON = {bool: "true or false", int: "a whole number", NoneType: "null"}


@dataclass(frozen=True)
class AddedToken:
    """A text that is one token wherever it occurs (see `wordpiece.added`).

    special: `decode` leaves it out.   normalized: looked for after normalisation, not before it.
    """

    text: str
    special: bool = False
    normalized: bool = True


class TokenTable:
    """Look-up in a vocabulary of any kind.

    A subclass sets `pieces` and `_index`, calls `_set_special_ids`, and defines `sha256`, a fingerprint of all that it
    consists of.
    """

    file: str  # its name beside examples
    pieces: tuple[str, ...]  # the token of each id
    special_ids: tuple[int, ...]  # of padding, unknown, [CLS], [SEP], [MASK] and others
    pair_separators: int = 1  # between two texts in one row: [CLS] a [SEP] b [SEP]
    word_begin: str = ""  # with which a token begins that begins a word, if tokens show it
    has_unknown: bool = True  # whether a text can have an unknown part
    cls_last: bool = False  # whether [CLS] is the last token of a row, in a segment of its own, 2, instead of the first
    added: tuple[AddedToken, ...] = ()  # tokens beside those of the model's own vocabulary, each also among `pieces`
    sha256: str
    _index: dict[str, int]  # token → id

    def _set_special_ids(self, special: Iterable[str], where: str | Path) -> None:
        """Sets the ids of padding, unknown, [CLS], [SEP] and [MASK], whose texts are given in this order.

        Raises VocabularyError if one of them is missing.
        """
        self._special = special = tuple(special)
        missing = [token for token in dict.fromkeys(special) if token not in self._index]
        if missing:
            raise VocabularyError(
                f"{where}: {', '.join(missing)} is missing; expected {' '.join(dict.fromkeys(special))}"
            )
        self.special_ids = tuple(self._index[token] for token in special)
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

    def continues(self, piece: str) -> bool:
        """Whether a token continues a word; False where tokens do not show where a word begins."""
        return bool(self.word_begin) and not piece.startswith(self.word_begin) and piece not in self._special

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
    def hidden_ids(self) -> set[int]:
        """The ids that decoding leaves out: special tokens, added ones too, but not the unknown one, which is text."""
        hidden = {*self.special_ids, *(self._index[token.text] for token in self.added if token.special)}
        return hidden - {self.unk_id} if self.has_unknown else hidden


def pieces_in_order(numbers: Mapping[str, int], path: Path) -> list[str]:
    """Tokens in the order of their ids. Raises VocabularyError unless the ids are 0, 1, 2 …, each once."""
    if not numbers or not all(type(number) is int for number in numbers.values()):
        raise VocabularyError(f"{path}: expected an object from tokens to ids, whole numbers")
    if sorted(numbers.values()) != list(range(len(numbers))):
        raise VocabularyError(f"{path}: the ids of the vocabulary are not 0 to {len(numbers) - 1}, each once")
    return sorted(numbers, key=numbers.get)


class Tokenizer(ABC):
    """Text into ids and back. In every method that reads text, `special_tokens=True` reads "[MASK]" as that token.

    A family names the kind of tokenizer that its checkpoints come with; `bertlab.checkpoints.load_tokenizer` chooses by
    it. A subclass is a dataclass of `vocabulary` and its settings, sets `kind`, and defines `encode`,
    `encode_with_offsets`, `_text_of`, `_write` and `load`.

    Example:
        >>> from bertlab.checkpoints import load_tokenizer
        >>> tokenizer = load_tokenizer("bertlab-mini")
        >>> isinstance(tokenizer, Tokenizer)
        True
        >>> tokenizer.decode(tokenizer.encode("A small house."))
        'a small house.'
    """

    kind: ClassVar[str]  # a key of `bertlab.tokenizers.kinds`
    word_prefix: ClassVar[str] = ""  # before each of several words or sentences encoded one by one, save the first
    vocabulary: TokenTable

    def __reduce__(self):
        """Worker processes get the settings; each fills the tables of its own."""
        return type(self), (self.vocabulary, *self.settings().values())

    def settings(self) -> dict[str, Any]:
        """The arguments beside the vocabulary."""
        return {field.name: getattr(self, field.name) for field in fields(self)[1:]}

    # === Text into ids ===

    @abstractmethod
    def encode(self, text: str, special_tokens: bool = False) -> list[int]:
        """The ids of the tokens of a text, without the special tokens around it (see `pack`)."""

    @abstractmethod
    def encode_with_offsets(self, text: str, special_tokens: bool = False) -> Encoding:
        """Ids, tokens, the characters (start, end) of each and the number of the word it belongs to."""

    def tokenize(self, text: str, special_tokens: bool = False) -> list[str]:
        """The tokens of a text."""
        return [self.vocabulary.pieces[number] for number in self.encode(text, special_tokens)]

    def encode_batch(self, texts: Iterable[str], special_tokens: bool = False) -> Ragged:
        """The ids of many texts: values (N,) int32 and row_splits (rows + 1,) int64."""
        return ragged(self.encode(text, special_tokens) for text in texts)

    def encode_targets(self, texts: Iterable[str]) -> Ragged:
        """The ids of many targets, as `encode_batch`; a tokenizer for translation cuts them in another way."""
        return self.encode_batch(texts)

    def encode_batch_with_offsets(self, texts: Iterable[str], special_tokens: bool = False) -> RaggedEncoding:
        """The same with offsets (N, 2) into each row's text and word_ids (N,)."""
        rows = [Encoding.of([], [], [], []), *(self.encode_with_offsets(text, special_tokens) for text in texts)]
        ids, offsets, word_ids = (
            np.concatenate([getattr(row, name) for row in rows]) for name in ("ids", "offsets", "word_ids")
        )
        return RaggedEncoding(ids, np.cumsum([len(row.ids) for row in rows]).astype(np.int64), offsets, word_ids)

    # === Rows of a model's input ===

    def pack(self, ids_a: Sequence[int], ids_b: Sequence[int] | None = None, max_length: int | None = None) -> dict:
        """One row of the model's input, not padded: `[CLS] a [SEP]` or `[CLS] a [SEP] b [SEP]`.

        The special tokens are the vocabulary's own; RoBERTa's are `<s> a </s> </s> b </s>`.

        max_length: cut to it, special tokens included, from the end of the longer text (of b, if equally long).
        Returns input_ids, token_type_ids and attention_mask, each (T,) int32.
        """
        total = len(ids_a) + special_count(self.vocabulary, ids_b is not None) + (0 if ids_b is None else len(ids_b))
        width = total if max_length is None else min(max_length, total)
        packed = pack_rows(self.vocabulary, ragged([ids_a]), None if ids_b is None else ragged([ids_b]), width)
        return {name: rows[0] for name, rows in packed.items()}

    def encode_packed(
        self,
        texts: Iterable[str],
        texts_b: Iterable[str] | None = None,
        max_length: int | None = None,
        special_tokens: bool = False,
    ) -> dict[str, np.ndarray]:
        """The model's input for many texts or pairs of texts.

        max_length: rows are cut and padded to it; None: nothing is cut, rows are padded to the longest.
        Returns input_ids, token_type_ids and attention_mask, each (B, T) int32.
        """
        b = None if texts_b is None else self.encode_batch(texts_b, special_tokens)
        return pack_rows(self.vocabulary, self.encode_batch(texts, special_tokens), b, max_length)

    # === Ids into text ===

    def decode(self, ids: Iterable[int], skip_special_tokens: bool = True) -> str:
        """Readable text; of a tokenizer for translation, that of a target.

        skip_special_tokens: leave out special tokens, such as padding and masks.
        Raises DataError for an id outside the vocabulary.
        """
        vocabulary, ids = self.vocabulary.targets, [int(number) for number in ids]
        for number in ids:
            if not 0 <= number < len(vocabulary):
                raise DataError(f"id {number} is outside the vocabulary, whose ids are 0 to {len(vocabulary) - 1}")
        hidden = vocabulary.hidden_ids if skip_special_tokens else ()
        return self._text_of([number for number in ids if number not in hidden])

    @abstractmethod
    def _text_of(self, ids: list[int]) -> str:
        """The text of ids of the vocabulary."""

    # === In a graph, in a folder ===

    def graph(self, special_tokens: bool = False):
        """The in-graph form, for `tf.data` and SavedModel. Raises ConfigError, with advice, for a kind without one."""
        raise ConfigError(
            f"a SavedModel takes strings, which needs a tokenizer inside the graph; {self.kind} has none here: export "
            "with --onnx, which takes ids, and make them with this tokenizer"
        )

    def save(self, folder: str | Path) -> None:
        """Writes the files from which `load` makes it again, a folder that transformers reads if it has the kind."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        self._write(folder)

    @abstractmethod
    def _write(self, folder: Path) -> None:
        """Writes the files into a folder that is there."""

    def save_vocabulary(self, folder: str | Path) -> None:
        """Writes the files that examples made with it need."""
        self.save(folder)


def ragged(rows: Iterable[Sequence[int]]) -> Ragged:
    """Rows of ids in one array."""
    values, splits = array("i"), array("q", [0])
    for row in rows:
        values.extend(row)
        splits.append(len(values))
    return Ragged(np.array(values, np.int32), np.array(splits, np.int64))


def read_config(path: Path) -> dict:
    """The object in a JSON file; {} without the file. Raises ConfigError for other content."""
    return read_json(path, ConfigError, COPY_IT, dict) if path.exists() else {}


def steps_of(part, name: str) -> list[tuple[str | None, Any]]:
    """The steps in a part of tokenizer.json, with their types: those of a sequence by their name, the part, or none."""
    is_sequence = isinstance(part, dict) and part.get("type") == "Sequence"
    steps = part.get(name) or [] if is_sequence else [] if part is None else [part]
    return [(step.get("type") if isinstance(step, dict) else None, step) for step in steps]


def write_config(folder: Path, values: dict) -> None:
    """Writes tokenizer_config.json."""
    write_text(folder / CONFIG_FILE, json.dumps(values, indent=2) + "\n", VocabularyError)


def read_settings(folder: Path, names: Mapping[str, str], **types: tuple) -> dict[str, Any]:
    """The settings in a folder's tokenizer_config.json. names: ours → those in the file.   types: of others than bool.

    Raises ConfigError, naming the file, for a value of another type.
    """
    config = read_config(folder / CONFIG_FILE)
    settings = {ours: config[theirs] for ours, theirs in names.items() if theirs in config}
    for name, value in settings.items():
        allowed = types.get(name, (bool,))
        if type(value) not in allowed:
            expected = " or ".join(_IN_JSON[each] for each in allowed)
            raise ConfigError(f"{folder / CONFIG_FILE}: {names[name]} must be {expected}, not {value!r}")
    return settings


def optional_package(name: str, extra: str, module: str = ""):
    """A package that comes with an extra of ours, or a module in it. Raises MissingDependencyError without it."""
    try:
        return import_module(module or name)
    except ImportError:
        raise MissingDependencyError(
            f'this tokenizer needs the package {name}: pip install "bertlab[{extra}]"'
        ) from None


def as_utf8(text: str) -> str:
    """A text that can be written as UTF-8: a lone surrogate becomes U+FFFD."""
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "\ufffd", text)


def byte_content(path: Path, advice: str = "") -> bytes:
    """The bytes of a file. Raises VocabularyError, with the advice, if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise VocabularyError(f"{path}: cannot be read ({error.strerror}){advice}") from None
