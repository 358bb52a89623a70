"""SentencePiece, ALBERT's and XLNet's kind of tokenizer, through the optional package `sentencepiece`.

The text is prepared as in google-research/albert, `tokenization.preprocess_text`: quotes made of two characters become
one, any white space a space, accents are dropped (NFKD), capitals are lowered. SentencePiece then finds the most
likely tokens (Kudo 2018, "Subword Regularization"); a token that begins a word begins with ▁.
"""

import base64
import hashlib
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from functools import cached_property
from pathlib import Path

from bertlab.common.errors import ConfigError, DataError, VocabularyError
from bertlab.common.files import write_bytes
from bertlab.tokenizers.wordpiece.added import (
    WholeTokens,
    added_tokens,
    in_config,
    read_added,
    remove_other_files,
    with_added,
)
from bertlab.tokenizers.wordpiece.base import (
    TOKENIZER_JSON,
    Tokenizer,
    TokenTable,
    as_utf8,
    byte_content,
    optional_package,
    read_config,
    read_settings,
    steps_of,
    write_config,
)
from bertlab.tokenizers.wordpiece.encoding import Encoding

MODEL_FILE = "spiece.model"
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


def _package(module: str = "sentencepiece"):
    return optional_package("sentencepiece", "sentencepiece", module)


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
    word_begin = WORD_BEGIN

    def __init__(self, model: bytes, where: str = MODEL_FILE, added: dict[int, dict] | None = None):
        self.model, self._entries = model, added or {}
        self.processor = processor_of(model, where)
        size = self.processor.get_piece_size()
        own = [self.processor.id_to_piece(number) for number in range(size)]
        self.pieces = tuple(with_added(own, self._entries, where))
        self._index = {piece: number for number, piece in enumerate(self.pieces)}
        self.cls_last = "<cls>" in self._index
        self.special = SPECIAL_CLS_LAST if self.cls_last else SPECIAL
        self._set_special_ids(self.special, where)
        self.special_ids += tuple(self._index[token] for token in _FURTHER if self.cls_last and token in self._index)
        self.added = tuple(added_tokens(self._entries, (*self.special, *_FURTHER), where))

    def __reduce__(self):
        return SentencePieceVocabulary, (self.model, MODEL_FILE, self._entries)

    @cached_property
    def sha256(self) -> str:
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
    if not lowercase:
        return "".join(characters), origins
    origins = [index for char, index in zip(characters, origins, strict=True) for _ in char.lower()]
    return "".join(characters).lower(), origins  # as one text, since Σ at the end of a word is ς


@dataclass(eq=False)
class SentencePieceTokenizer(Tokenizer):
    """ALBERT's and XLNet's tokenizer: prepares the text and lets SentencePiece cut it.

    Every method that reads text takes `special_tokens`: False, and "[MASK]" in a text is text; True, and it is a token.
    XLNet's, whose vocabulary has <mask> instead, reads both as that token; it is published cased. Tokens that were
    added to the vocabulary are always read as a whole.
    """

    vocabulary: SentencePieceVocabulary
    lowercase: bool = True  # for uncased models
    keep_accents: bool = False

    kind = "SentencePiece"  # no word_prefix: every text begins with ▁

    def __post_init__(self):
        self._whole = WholeTokens(self.vocabulary.added, {*self.vocabulary.special, MASK}, self._normal_form)

    @property
    def strip_accents(self) -> bool:
        """The opposite of `keep_accents`."""
        return not self.keep_accents

    # === One text ===

    def encode(self, text: str, special_tokens: bool = False) -> list[int]:
        ids = []
        for part, _, token in self._whole.split(text, special_tokens):
            if token is not None:
                ids.append(self._whole_id(token))
            else:
                ids += self.vocabulary.processor.encode(self._normal_form(part)[0])
        return ids

    def encode_with_offsets(self, text: str, special_tokens: bool = False) -> Encoding:
        """The characters of a token are those without the space before it."""
        ids, offsets, words, word = [], [], [], -1
        for part, first, token in self._whole.split(text, special_tokens):
            found = self._spans(part) if token is None else [(self._whole_id(token), token, 0, len(part))]
            for number, piece, start, end in found:
                word += token is not None or piece.startswith(WORD_BEGIN) or word < 0
                ids.append(number)
                offsets.append((first + start, first + end))
                words.append(word)
        return Encoding.of(ids, self.vocabulary.pieces, offsets, words)

    def _whole_id(self, token: str) -> int:
        return self.vocabulary.mask_id if token == MASK else self.vocabulary.index(token)

    def _normal_form(self, text: str) -> tuple[str, list[int]]:
        """The text that SentencePiece gets, and the place of each of its characters."""
        return prepared(as_utf8(text), self.lowercase, self.keep_accents)

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
        pieces = [self.vocabulary.pieces[number] for number in ids]
        whole = {*self.vocabulary.special, *(token.text for token in self.vocabulary.added)}
        text = "".join(f" {piece} " if piece in whole else piece for piece in pieces)
        return re.sub(" +", " ", text.replace(WORD_BEGIN, " ")).strip()

    def _write(self, folder: Path) -> None:
        write_bytes(folder / MODEL_FILE, self.vocabulary.model, VocabularyError)
        config = {theirs: getattr(self, ours) for ours, theirs in _CONFIG_NAMES.items()}
        write_config(folder, config | in_config(self.vocabulary))
        remove_other_files(folder)

    @classmethod
    def load(cls, folder: str | Path, **settings) -> "SentencePieceTokenizer":
        """Reads spiece.model, or a unigram model in tokenizer.json, and if it is there tokenizer_config.json.

        settings: override the folder's.
        Raises VocabularyError, ConfigError, or MissingDependencyError without the package.
        """
        path, in_file = Path(folder) / MODEL_FILE, {}
        if path.exists() or not (path.parent / TOKENIZER_JSON).exists():
            model = byte_content(path)
        else:
            path = path.parent / TOKENIZER_JSON
            model, in_file = from_tokenizer_json(path)
        vocabulary = SentencePieceVocabulary(model, str(path), read_added(path.parent))
        usual = {"lowercase": not vocabulary.cls_last} | in_file
        return cls(vocabulary, **{**usual, **read_settings(path.parent, _CONFIG_NAMES), **settings})


# === A unigram model of Hugging Face's tokenizer.json ===


def from_tokenizer_json(path: Path) -> tuple[bytes, dict[str, bool]]:
    """The content of a spiece.model with the same tokens and scores, and the settings of its `SentencePieceTokenizer`.

    transformers 5 writes ALBERT's and XLNet's tokenizers into this file alone.
    Raises VocabularyError, naming the part, for a file with other steps than those of ALBERT and XLNet.
    """
    values = read_config(path)
    model = values.get("model")
    vocab = model.get("vocab") if isinstance(model, dict) and model.get("type") == "Unigram" else None
    if not isinstance(vocab, list) or not all(
        isinstance(one, list) and list(map(type, one)) in ([str, float], [str, int]) for one in vocab
    ):
        raise VocabularyError(f"{path}: expected a tokenizer of type 'Unigram' with a list of tokens and scores")
    unknown = model.get("unk_id")
    if type(unknown) is not int or not 0 <= unknown < len(vocab):
        raise VocabularyError(f"{path}: expected in unk_id the id of a token, got {unknown!r}")
    if model.get("byte_fallback"):
        raise VocabularyError(f"{path}: byte_fallback is not supported")
    settings, character_map = _normalizer(values.get("normalizer"), path)
    prefix = _has_prefix(values.get("pre_tokenizer"), path)
    special = {one.get("content") for one in values.get("added_tokens") or [] if one.get("special")}
    made = _package("sentencepiece.sentencepiece_model_pb2").ModelProto()
    for number, (text, score) in enumerate(vocab):
        kind = "UNKNOWN" if number == unknown else "CONTROL" if text in special else "NORMAL"
        made.pieces.add(piece=text, score=score, type=kind)
    trainer, normalizer = made.trainer_spec, made.normalizer_spec
    trainer.model_type, trainer.vocab_size, trainer.unk_id = trainer.UNIGRAM, len(vocab), unknown
    trainer.bos_id = trainer.eos_id = trainer.pad_id = -1
    normalizer.precompiled_charsmap, normalizer.add_dummy_prefix = character_map, prefix
    return made.SerializeToString(), settings


def _normalizer(normalizer, path: Path) -> tuple[dict[str, bool], bytes]:
    """The settings, and SentencePiece's table of characters."""
    settings, character_map = {"lowercase": False, "keep_accents": True}, b""
    for kind, step in steps_of(normalizer, "normalizers"):
        if kind == "Lowercase":
            settings["lowercase"] = True
        elif kind == "StripAccents":
            settings["keep_accents"] = False
        elif kind == "Precompiled":
            try:
                character_map = base64.b64decode(step.get("precompiled_charsmap"), validate=True)
            except (TypeError, ValueError):
                raise VocabularyError(f"{path}: precompiled_charsmap is damaged: copy the file again") from None
        elif kind not in ("NFKD", "Strip") and not (kind == "Replace" and _is_always_done(step)):
            raise VocabularyError(f"{path}: the normalizer {step!r:.60} is not supported")
    return settings, character_map


def _is_always_done(step: dict) -> bool:
    """Whether quotes of two characters become one, or several spaces one."""
    replaced = (step.get("pattern") or {}).get("String")
    return step.get("content") == " " or (step.get("content") == '"' and replaced in ("``", "''"))


def _has_prefix(before, path: Path) -> bool:
    """Whether a text begins with a space."""
    schemes = []
    for kind, step in steps_of(before, "pretokenizers"):
        if kind == "Metaspace" and step.get("replacement", "▁") == "▁":
            usual = "always" if step.get("add_prefix_space", True) else "never"  # the name in older files
            schemes.append(step.get("prepend_scheme", usual))
        elif kind != "WhitespaceSplit":
            schemes.append(kind)
    if schemes not in (["always"], ["never"]):
        raise VocabularyError(
            f"{path}: the pre_tokenizer {before!r:.80} is not supported, only 'Metaspace' before all words or none is"
        )
    return schemes == ["always"]
