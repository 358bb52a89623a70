"""The kinds of tokenizer that this library has, and opening one from files without knowing its kind.

To add a kind: a subclass of `bertlab.tokenizers.wordpiece.base.Tokenizer` with what is its own, a line in
`_CLASSES`, and the files by which `kind_in` recognizes it.
"""

import importlib
import json
from pathlib import Path

from bertlab.common.errors import VocabularyError
from bertlab.tokenizers.wordpiece.base import Tokenizer

WORDPIECE, BYTE_PAIRS, WORD_PAIRS, SENTENCE_PIECES = "WordPiece", "byte-level BPE", "word BPE", "SentencePiece"
TRANSLATION_PIECES = "SentencePiece for translation"
WHOLE_WORDS = "whole words"
_CLASSES = {
    WORDPIECE: ("bertlab.tokenizers.wordpiece.tokenizer", "WordPieceTokenizer"),
    BYTE_PAIRS: ("bertlab.tokenizers.bpe.tokenizer", "BytePairTokenizer"),
    WORD_PAIRS: ("bertlab.tokenizers.bpe.tokenizer", "WordPairTokenizer"),
    SENTENCE_PIECES: ("bertlab.tokenizers.sentence_pieces", "SentencePieceTokenizer"),
    WHOLE_WORDS: ("bertlab.tokenizers.whole_words", "WordTokenizer"),
    TRANSLATION_PIECES: ("bertlab.tokenizers.translation_pieces", "TranslationTokenizer"),
}
_FILES = {
    "source.spm": TRANSLATION_PIECES,  # with a vocab.json
    "vocab.json": BYTE_PAIRS,
    "spiece.model": SENTENCE_PIECES,
    "words.txt": WHOLE_WORDS,
    "vocab.txt": WORDPIECE,
}  # a file of the vocabulary → the kind that has it
_IN_ONE_FILE = "tokenizer.json"  # Hugging Face's file for any kind
_TYPES = {"BPE": BYTE_PAIRS, "Unigram": SENTENCE_PIECES, "WordPiece": WORDPIECE}  # its `model.type`


def tokenizer_class(kind: str) -> type:
    """The class of a kind. Raises VocabularyError if there is none.

    Example:
        >>> tokenizer_class("WordPiece").__name__
        'WordPieceTokenizer'
    """
    if kind not in _CLASSES:
        raise VocabularyError(f"there is no tokenizer of the kind {kind!r}; choose one of {', '.join(_CLASSES)}")
    module, name = _CLASSES[kind]
    return getattr(importlib.import_module(module), name)


def kind_in(folder: str | Path) -> str | None:
    """The kind of tokenizer whose files a folder has; a type of tokenizer.json that we lack by its own name; None."""
    folder = Path(folder)
    for name, kind in _FILES.items():
        if (folder / name).exists():
            return WORD_PAIRS if kind == BYTE_PAIRS and _marks_word_ends(folder / name) else kind
    path = folder / _IN_ONE_FILE
    if not path.exists():
        return None
    values = _json_in(path)
    model = values.get("model") if isinstance(values, dict) else None
    found = (WORD_PAIRS if model.get("end_of_word_suffix") else model.get("type")) if isinstance(model, dict) else None
    if not isinstance(found, str):
        raise VocabularyError(f"{path}: expected a JSON object with a model and its type")
    return _TYPES.get(found, found)


def _marks_word_ends(path: Path) -> bool:
    """Whether a vocab.json is one of BPE with the ends of words, </w>, instead of bytes, of which Ġ is the space."""
    numbers = _json_in(path)
    return isinstance(numbers, dict) and "Ġ" not in numbers and any(token.endswith("</w>") for token in numbers)


def _json_in(path: Path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # the tokenizer's `load` names the damage


def open_tokenizer(path: str | Path, **wordpiece_settings) -> Tokenizer:
    """The tokenizer in a folder, or whose vocabulary a file is: vocab.txt, vocab.json, spiece.model,
    words.txt, or tokenizer.json.

    wordpiece_settings: replace the folder's, as far as its kind of tokenizer has them; a byte-level BPE has none.
    Raises VocabularyError or ConfigError for files that cannot be used.
    """
    path = Path(path)
    if path.name in (*_FILES, _IN_ONE_FILE) and path.name != "vocab.txt" and not path.is_dir():
        path = path.parent
    if not path.is_dir():
        from bertlab.tokenizers.wordpiece.tokenizer import Vocabulary, WordPieceTokenizer, read_vocabulary

        in_folder = path.name == Vocabulary.file and path.exists()  # beside files that may add tokens
        vocabulary = read_vocabulary(path.parent) if in_folder else Vocabulary.from_file(path)
        return WordPieceTokenizer(vocabulary, **wordpiece_settings)
    kind = kind_in(path) or WORDPIECE
    known = {WORDPIECE: wordpiece_settings, SENTENCE_PIECES: {"lowercase"} & wordpiece_settings.keys()}.get(kind, ())
    return tokenizer_class(kind).load(path, **{name: wordpiece_settings[name] for name in known})


def recorded_with_vocabulary(tokenizer: Tokenizer) -> dict:
    """The entries of a manifest for a tokenizer and its vocabulary: two equal ones make the same examples.

    The tokenizer's has its settings, and its kind if that is not WordPiece.
    """
    vocabulary = tokenizer.vocabulary
    about = {"file": vocabulary.file, "pieces": len(vocabulary), "sha256": vocabulary.sha256}
    kind = {} if tokenizer.kind == WORDPIECE else {"kind": tokenizer.kind}
    return {"vocabulary": about, "tokenizer": kind | tokenizer.settings()}


def from_record(folder: str | Path, values: dict) -> Tokenizer:
    """The tokenizer of such an entry. folder: has the files of the vocabulary."""
    settings = dict(values)
    return tokenizer_class(settings.pop("kind", WORDPIECE)).load(folder, **settings)
