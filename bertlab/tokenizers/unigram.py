"""A unigram model of Hugging Face's tokenizer.json as a SentencePiece model: the same tokens and scores.

transformers 5 writes ALBERT's and XLNet's tokenizers into this file alone. A SentencePiece model is a message of
protocol buffers; only the few fields that reading a text needs are written. Sources: sentencepiece_model.proto of
google/sentencepiece, and "Encoding" in the documentation of protocol buffers.
"""

import base64
import binascii
import struct
from pathlib import Path

from bertlab.common.errors import VocabularyError
from bertlab.tokenizers.wordpiece.base import read_config

# Numbers of fields, and of what they name, in sentencepiece_model.proto.
_PIECE, _TRAINER, _NORMALIZER = 1, 2, 3  # of the model
_TEXT, _SCORE, _TYPE = 1, 2, 3  # of a token
_MODEL_TYPE, _SIZE, _UNK, _BOS, _EOS, _PAD = 3, 4, 40, 41, 42, 43  # of the trainer
_CHARACTER_MAP, _DUMMY_PREFIX = 2, 3  # of the normalizer
_NORMAL, _UNKNOWN, _CONTROL = 1, 2, 3  # types of a token
_UNIGRAM, _NONE = 1, -1
_QUOTES = ("``", "''")


def from_tokenizer_json(path: Path) -> tuple[bytes, dict[str, bool]]:
    """The content of a spiece.model, and the settings of its `SentencePieceTokenizer`.

    Raises VocabularyError, naming the part, for a file with other steps than those of ALBERT and XLNet.
    """
    values = read_config(path)
    model = values.get("model")
    vocab = model.get("vocab") if isinstance(model, dict) and model.get("type") == "Unigram" else None
    if not isinstance(vocab, list) or not all(_is_scored(one) for one in vocab):
        raise VocabularyError(f"{path}: expected a tokenizer of type 'Unigram' with a list of tokens and scores")
    unknown = model.get("unk_id")
    if type(unknown) is not int or not 0 <= unknown < len(vocab):
        raise VocabularyError(f"{path}: expected in unk_id the id of a token, got {unknown!r}")
    if model.get("byte_fallback"):
        raise VocabularyError(f"{path}: byte_fallback is not supported")
    settings, character_map = _normalizer(values.get("normalizer"), path)
    special = {one.get("content") for one in values.get("added_tokens") or [] if one.get("special")}
    trainer = {_MODEL_TYPE: _UNIGRAM, _SIZE: len(vocab), _UNK: unknown, _BOS: _NONE, _EOS: _NONE, _PAD: _NONE}
    normalizer = {_CHARACTER_MAP: character_map, _DUMMY_PREFIX: _has_prefix(values.get("pre_tokenizer"), path)}
    pieces = []
    for number, (text, score) in enumerate(vocab):
        kind = _UNKNOWN if number == unknown else _CONTROL if text in special else _NORMAL
        pieces.append(_message({_TEXT: text.encode("utf-8"), _SCORE: float(score), _TYPE: kind}))
    parts = [*((_PIECE, piece) for piece in pieces), (_TRAINER, _message(trainer)), (_NORMALIZER, _message(normalizer))]
    return b"".join(_field(number, part) for number, part in parts), settings


def _is_scored(one) -> bool:
    return isinstance(one, list) and len(one) == 2 and isinstance(one[0], str) and isinstance(one[1], int | float)


def _normalizer(normalizer, path: Path) -> tuple[dict[str, bool], bytes]:
    """The settings, and SentencePiece's table of characters."""
    steps = [] if normalizer is None else [normalizer]
    if isinstance(normalizer, dict) and normalizer.get("type") == "Sequence":
        steps = normalizer.get("normalizers") or []
    settings, character_map = {"lowercase": False, "keep_accents": True}, b""
    for step in steps:
        kind = step.get("type") if isinstance(step, dict) else None
        if kind == "Lowercase":
            settings["lowercase"] = True
        elif kind == "StripAccents":
            settings["keep_accents"] = False
        elif kind == "Precompiled":
            character_map = _decoded(step.get("precompiled_charsmap"), path)
        elif kind != "NFKD" and not _is_of_quotes_or_spaces(step):
            raise VocabularyError(f"{path}: the normalizer {step!r:.60} is not supported")
    return settings, character_map


def _is_of_quotes_or_spaces(step) -> bool:
    """Whether it does what is always done: quotes of two characters become one, and several spaces one."""
    if not isinstance(step, dict) or step.get("type") not in ("Replace", "Strip"):
        return False
    pattern, content = step.get("pattern") or {}, step.get("content")
    return step["type"] == "Strip" or content == " " or (content == '"' and pattern.get("String") in _QUOTES)


def _decoded(text, path: Path) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise VocabularyError(f"{path}: precompiled_charsmap is damaged: copy the file again") from None


def _has_prefix(before, path: Path) -> bool:
    """Whether a text begins with a space."""
    steps = [before]
    if isinstance(before, dict) and before.get("type") == "Sequence":
        steps = before.get("pretokenizers") or []
    schemes = []
    for step in steps:
        kind = step.get("type") if isinstance(step, dict) else None
        if kind == "Metaspace" and step.get("replacement", "▁") == "▁":
            usual = "always" if step.get("add_prefix_space", True) else "never"  # the name in older files
            schemes.append(step.get("prepend_scheme", usual))
        elif kind != "WhitespaceSplit":
            schemes = []
            break
    if schemes not in (["always"], ["never"]):
        raise VocabularyError(
            f"{path}: the pre_tokenizer {before!r:.80} is not supported, only 'Metaspace' before all words or none is"
        )
    return schemes == ["always"]


# === Protocol buffers ===


def _message(fields: dict[int, object]) -> bytes:
    return b"".join(_field(number, value) for number, value in fields.items())


def _field(number: int, value) -> bytes:
    """A field: bytes with their length, a float in 4 bytes, a whole number or truth value in as many as it needs."""
    if isinstance(value, bytes):
        return _varint(number << 3 | 2) + _varint(len(value)) + value
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    return _varint(number << 3) + _varint(int(value) % 2**64)


def _varint(value: int) -> bytes:
    """7 bits in each byte, the lowest first; the eighth tells whether more follow."""
    content = bytearray()
    while value > 127:
        content.append(value & 127 | 128)
        value >>= 7
    return bytes([*content, value])
