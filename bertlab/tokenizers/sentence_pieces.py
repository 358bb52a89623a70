"""SentencePiece, ALBERT's and XLNet's kind of tokenizer, through the optional package `sentencepiece`.

The text is prepared as in google-research/albert, `tokenization.preprocess_text`: quotes made of two characters become
one, any white space a space, accents are dropped (NFKD), capitals are lowered. SentencePiece then finds the most
likely tokens (Kudo 2018, "Subword Regularization"); a token that begins a word begins with ▁.
"""

import hashlib
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from functools import cached_property
from pathlib import Path

import numpy as np

from bertlab.common.errors import ConfigError, DataError, MissingDependencyError, VocabularyError
from bertlab.common.files import write_bytes, write_text
from bertlab.tokenizers.token_table import TokenTable
from bertlab.tokenizers.unigram import from_tokenizer_json
from bertlab.tokenizers.wordpiece.added import (
    TOKENIZER_JSON,
    WholeTokens,
    added_tokens,
    in_config,
    read_added,
    remove_other_files,
    with_added,
)
from bertlab.tokenizers.wordpiece.base import Tokenizer, read_config
from bertlab.tokenizers.wordpiece.encoding import Encoding

MODEL_FILE, CONFIG_FILE = "spiece.model", "tokenizer_config.json"
MASK = "[MASK]"  # means the mask in every tokenizer's text
SPECIAL = ("<pad>", "<unk>", "[CLS]", "[SEP]", MASK)
SPECIAL_CLS_LAST = ("<pad>", "<unk>", "<cls>", "<sep>", "<mask>")  # XLNet's; its rows end with <cls>
_FURTHER = ("<s>", "</s>", "<eod>", "<eop>")  # in XLNet's vocabularies too, but not in its rows
WORD_BEGIN = "▁"
_LONGEST_LINE = 2**30  # bytes, the package's highest limit; without one it leaves out lines over 4192 silently
_CONFIG_NAMES = {"lowercase": "do_lower_case", "keep_accents": "keep_accents"}
# The trainer's settings for the ids of the special tokens, as published; control symbols get the first free ones.
_IDS = dict(pad_id=0, unk_id=1, bos_id=-1, eos_id=-1, control_symbols=["[CLS]", "[SEP]", "[MASK]"])
_IDS_CLS_LAST = dict(
    unk_id=0, bos_id=1, eos_id=2, pad_id=5, control_symbols=["<cls>", "<sep>", "<mask>", "<eod>", "<eop>"]
)
_QUOTES = re.compile("``|''")


def _package():
    try:
        import sentencepiece
    except ImportError:
        raise MissingDependencyError(
            'this tokenizer needs the package sentencepiece: pip install "bertlab[sentencepiece]"'
        ) from None
    return sentencepiece


def processor_of(model: bytes, where: str):
    """The package's processor of a model. where: its file, for messages. Raises VocabularyError for other bytes."""
    try:
        return _package().SentencePieceProcessor(model_proto=model)
    except RuntimeError as error:
        raise VocabularyError(f"{where}: is not a SentencePiece model ({error})") from None


class SentencePieceVocabulary(TokenTable):
    """The tokens in a SentencePiece model, with five special tokens among them: ALBERT's or XLNet's.

    model: the content of a spiece.model.   where: the file, for messages.   added: objects of tokens added behind the
    model's, by their ids (see `wordpiece.added`).
    special: padding, unknown, [CLS], [SEP] and [MASK] by their names.   cls_last: whether they are XLNet's.
    Raises VocabularyError for other bytes, a missing special token, or added tokens that do not fit.
    """

    file = MODEL_FILE
    pair_separators = 1

    def __init__(self, model: bytes, where: str = MODEL_FILE, added: dict[int, dict] | None = None):
        self.model, self._entries = model, added or {}
        self.processor = processor_of(model, where)
        size = self.processor.get_piece_size()
        own = [self.processor.id_to_piece(number) for number in range(size)]
        self.pieces = tuple(with_added(own, self._entries, where))
        self._index = {piece: number for number, piece in enumerate(self.pieces)}
        self.cls_last = "<cls>" in self._index
        self.special = SPECIAL_CLS_LAST if self.cls_last else SPECIAL
        missing = [token for token in self.special if token not in self._index]
        if missing:
            raise VocabularyError(f"{where}: {', '.join(missing)} is missing; expected {' '.join(self.special)}")
        self._set_special_ids(self.special)
        self.special_ids += tuple(self._index[token] for token in _FURTHER if self.cls_last and token in self._index)
        self.added = tuple(added_tokens(self._entries, (*self.special, *_FURTHER), where))

    def __reduce__(self):
        return SentencePieceVocabulary, (self.model, MODEL_FILE, self._entries)

    def continues(self, piece: str) -> bool:
        """Whether a token continues a word."""
        return not piece.startswith(WORD_BEGIN) and piece not in self.special

    @cached_property
    def sha256(self) -> str:
        """Fingerprint of the model and the added tokens."""
        added = json.dumps([astuple(token) for token in self.added]).encode() if self.added else b""
        return hashlib.sha256(self.model + added).hexdigest()


def learn(texts: Iterable[str], size: int, lowercase: bool = True, cls_last: bool = False) -> "SentencePieceTokenizer":
    """Learns a unigram model of `size` tokens with the package's own trainer, with the published special tokens.

    texts: lines of text.   cls_last: with those of XLNet, whose rows end with <cls>, instead of ALBERT's.
    Raises DataError if the text cannot give so many tokens; ConfigError for a size below 16.
    """
    if size < 16:
        raise ConfigError(f"expected a size of at least 16, got {size}")
    written = io.BytesIO()
    lines = (prepared(line, lowercase)[0] for text in texts for line in text.split("\n") if line.strip())
    try:
        _package().SentencePieceTrainer.train(
            sentence_iterator=lines, model_writer=written, vocab_size=size, model_type="unigram", num_threads=1,
            minloglevel=2, max_sentence_length=_LONGEST_LINE, **(_IDS_CLS_LAST if cls_last else _IDS),
        )  # fmt: skip
    except RuntimeError as error:
        raise DataError(f"SentencePiece cannot learn {size} tokens ({error}); use another size or more text") from None
    return SentencePieceTokenizer(SentencePieceVocabulary(written.getvalue()), lowercase)


def prepared(text: str, lowercase: bool = True, keep_accents: bool = False) -> tuple[str, list[int]]:
    """The text that SentencePiece gets, and for each of its characters its index in the original.

    Spaces at its ends and all but one of several in a row are left out, also where the model would keep them.

    Example:
        >>> prepared(" Ça  ``va''")
        ('ca "va"', [1, 2, 3, 5, 7, 8, 9])
    """
    characters, origins, skipped = [], [], {match.start(): match.end() for match in _QUOTES.finditer(text)}
    index = 0
    while index < len(text):
        changed = '"' if index in skipped else " " if text[index].isspace() else text[index]
        if not keep_accents:
            changed = "".join(
                char for char in unicodedata.normalize("NFKD", changed) if not unicodedata.combining(char)
            )
        if changed != " " or (characters and characters[-1] != " "):
            characters += changed
            origins += [index] * len(changed)
        index = skipped.get(index, index + 1)
    if characters and characters[-1] == " ":
        del characters[-1], origins[-1]
    return lowered(characters, origins) if lowercase else ("".join(characters), origins)


def lowered(characters: list[str], origins: list[int]) -> tuple[str, list[int]]:
    """The characters in lower case as one text, since Σ at the end of a word is ς; of one that becomes two, both."""
    return "".join(characters).lower(), [
        index for char, index in zip(characters, origins, strict=True) for _ in char.lower()
    ]


class SentencePieceTokenizer(Tokenizer):
    """ALBERT's and XLNet's tokenizer: prepares the text and lets SentencePiece cut it.

    vocabulary: the model.   lowercase: True for uncased models.   keep_accents: do not drop them.
    Every method that reads text takes `special_tokens`: False, and "[MASK]" in a text is text; True, and it is a token.
    XLNet's, whose vocabulary has <mask> instead, reads both as that token; it is published cased. Tokens that were
    added to the vocabulary are always read as a whole.
    """

    kind = "SentencePiece"  # no word_prefix: every text begins with ▁
    SETTINGS = ("lowercase", "keep_accents")

    def __init__(self, vocabulary: SentencePieceVocabulary, lowercase: bool = True, keep_accents: bool = False):
        self.vocabulary = vocabulary
        self.lowercase = lowercase
        self.keep_accents = keep_accents
        self._whole = WholeTokens(vocabulary.added, {*vocabulary.special, MASK}, self._normal_form)

    @property
    def strip_accents(self) -> bool:
        """The opposite of `keep_accents`."""
        return not self.keep_accents

    # === One text ===

    def encode(self, text: str, special_tokens: bool = False) -> list[int]:
        """The ids of a text, without the special tokens around it (see `pack`)."""
        ids = []
        for part, _, token in self._whole.split(text, special_tokens):
            if token is not None:
                ids.append(self._whole_id(token))
            else:
                ids += self.vocabulary.processor.encode(self._normal_form(part)[0])
        return ids

    def encode_with_offsets(self, text: str, special_tokens: bool = False) -> Encoding:
        """Ids, tokens, the characters (start, end) of each without the space before it, and its word's number."""
        ids, offsets, words, word = [], [], [], -1
        for part, first, token in self._whole.split(text, special_tokens):
            found = self._spans(part) if token is None else [(self._whole_id(token), token, 0, len(part))]
            for number, piece, start, end in found:
                word += token is not None or piece.startswith(WORD_BEGIN) or word < 0
                ids.append(number)
                offsets.append((first + start, first + end))
                words.append(word)
        pieces = [self.vocabulary.pieces[number] for number in ids]
        spans = np.array(offsets, np.int32).reshape(-1, 2)
        return Encoding(np.array(ids, np.int32), pieces, spans, np.array(words, np.int32))

    def _whole_id(self, token: str) -> int:
        return self.vocabulary.mask_id if token == MASK else self.vocabulary.index(token)

    def _normal_form(self, text: str) -> tuple[str, list[int]]:
        """The text that SentencePiece gets, and the place of each of its characters."""
        text = re.sub("[\ud800-\udfff]", "\ufffd", text)
        return prepared(text, self.lowercase, self.keep_accents)

    def _spans(self, text: str) -> Iterator[tuple[int, str, int, int]]:
        """(id, token, start, end) in the original text."""
        changed, origins = self._normal_form(text)
        found = self.vocabulary.processor.encode_as_offset_mapping(changed)
        for number, piece, (start, end) in zip(found["ids"], found["pieces"], found["offsets"]):
            while start < end and changed[start].isspace():
                start += 1
            begin = origins[start] if start < len(origins) else len(text)
            yield number, piece, begin, origins[end - 1] + 1 if end > start else begin

    # === Back to text, and files ===

    def _text_of(self, ids: list[int]) -> str:
        """The tokens joined, a space for every ▁."""
        pieces = [self.vocabulary.pieces[number] for number in ids]
        whole = {*self.vocabulary.special, *(token.text for token in self.vocabulary.added)}
        text = "".join(f" {piece} " if piece in whole else piece for piece in pieces)
        return re.sub(" +", " ", text.replace(WORD_BEGIN, " ")).strip()

    def save(self, folder: str | Path) -> None:
        """Writes spiece.model and tokenizer_config.json, which transformers reads too."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_bytes(folder / MODEL_FILE, self.vocabulary.model, VocabularyError)
        config = {theirs: getattr(self, ours) for ours, theirs in _CONFIG_NAMES.items()}
        config |= in_config(self.vocabulary.added, self.vocabulary.index)
        write_text(folder / CONFIG_FILE, json.dumps(config, indent=2) + "\n", VocabularyError)
        remove_other_files(folder)

    @classmethod
    def load(cls, folder: str | Path, **settings) -> "SentencePieceTokenizer":
        """Reads spiece.model, or a unigram model in tokenizer.json, and if it is there tokenizer_config.json.

        settings: override the folder's.
        Raises VocabularyError, ConfigError, or MissingDependencyError without the package.
        """
        path, in_file = Path(folder) / MODEL_FILE, {}
        if path.exists() or not (path.parent / TOKENIZER_JSON).exists():
            try:
                model = path.read_bytes()
            except OSError as error:
                raise VocabularyError(f"{path}: cannot be read ({error.strerror})") from None
        else:
            path = path.parent / TOKENIZER_JSON
            model, in_file = from_tokenizer_json(path)
        vocabulary = SentencePieceVocabulary(model, str(path), read_added(path.parent))
        usual = {"lowercase": not vocabulary.cls_last} | in_file
        return cls(vocabulary, **{**usual, **_read_settings(path.parent / CONFIG_FILE), **settings})


def _read_settings(path: Path) -> dict[str, bool]:
    values = read_config(path)
    found = {ours: values[theirs] for ours, theirs in _CONFIG_NAMES.items() if theirs in values}
    for name, value in found.items():
        if not isinstance(value, bool):
            raise ConfigError(f"{path}: {_CONFIG_NAMES[name]} must be true or false, not {value!r}")
    return found
