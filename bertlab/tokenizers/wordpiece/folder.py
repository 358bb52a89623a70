"""A WordPiece tokenizer in a folder: its vocabulary, its added tokens and its settings, which may be in several files.

vocab.txt               the vocabulary; without it, that in tokenizer.json
tokenizer_config.json   the settings by Hugging Face's names; what it lacks is taken from tokenizer.json
tokenizer.json          Hugging Face's one file for all of it; all that transformers 5 writes
"""

from pathlib import Path

from bertlab.common.errors import ConfigError, VocabularyError
from bertlab.tokenizers.wordpiece.added import CONFIG_FILE, TOKENIZER_JSON, added_tokens, read_added, with_added
from bertlab.tokenizers.wordpiece.base import read_config
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, Vocabulary

VOCABULARY_FILE = Vocabulary.file
# Our names of the settings → Hugging Face's in tokenizer_config.json.
CONFIG_NAMES = {
    "lowercase": "do_lower_case",
    "strip_accents": "strip_accents",
    "split_cjk": "tokenize_chinese_chars",
    "max_chars_per_word": "max_input_chars_per_word",
}


def read_vocabulary(folder: Path) -> Vocabulary:
    """The vocabulary with its added tokens. Raises VocabularyError, naming the file."""
    path, where = folder / VOCABULARY_FILE, f"{folder / VOCABULARY_FILE} line"
    if path.exists() or not (folder / TOKENIZER_JSON).exists():
        pieces = Vocabulary.lines_of(path)
    else:
        path = folder / TOKENIZER_JSON
        pieces, where = _pieces(path), f"{path}, token"
    entries = read_added(folder)
    return Vocabulary(with_added(pieces, entries, path), where, added_tokens(entries, SPECIAL_TOKENS, path))


def _pieces(path: Path) -> list[str]:
    """The tokens in a tokenizer.json, in the order of their ids.

    The published Chinese list has lines that are white space to transformers, which leaves their ids without a token
    or gives them an empty one: a name that no text contains stands for these.
    """
    numbers = _model(path).get("vocab")
    if not isinstance(numbers, dict) or not all(type(number) is int for number in numbers.values()) or not numbers:
        raise VocabularyError(f"{path}: expected a tokenizer of type 'WordPiece' with its vocabulary")
    size = max(numbers.values()) + 1
    if len({*numbers.values()}) < len(numbers) or min(numbers.values()) < 0 or size > 2 * len(numbers):
        raise VocabularyError(f"{path}: the ids of the vocabulary are not 0 to {len(numbers) - 1}, each once")
    pieces = [f"[no token {number}]" for number in range(size)]
    for piece, number in numbers.items():
        if piece.strip():
            pieces[number] = piece
    return pieces


def _model(path: Path) -> dict:
    model = read_config(path).get("model")
    if not isinstance(model, dict) or model.get("type") != "WordPiece":
        raise VocabularyError(f"{path}: expected a tokenizer of type 'WordPiece' with its vocabulary")
    if model.get("continuing_subword_prefix", "##") != "##":
        prefix = model["continuing_subword_prefix"]
        raise VocabularyError(f"{path}: tokens that continue a word begin with {prefix!r}; only '##' is supported")
    return model


def read_settings(folder: Path) -> dict:
    """The arguments of a `WordPieceTokenizer` that a folder's files name. Raises VocabularyError or ConfigError."""
    path = folder / CONFIG_FILE
    config = read_config(path)
    settings = {ours: config[theirs] for ours, theirs in CONFIG_NAMES.items() if theirs in config}
    for name, value in settings.items():
        expected = int if name == "max_chars_per_word" else bool
        if type(value) is not expected and not (name == "strip_accents" and value is None):
            raise ConfigError(f"{path}: {CONFIG_NAMES[name]} must be of type {expected.__name__}, not {value!r}")
    return {**_in_one_file(folder / TOKENIZER_JSON), **settings}


def _in_one_file(path: Path) -> dict:
    """The settings in a tokenizer.json; {} without the file."""
    if not path.exists():
        return {}
    values, model = read_config(path), _model(path)
    normalizer = values.get("normalizer")
    if not isinstance(normalizer, dict) or normalizer.get("type") != "BertNormalizer":
        raise VocabularyError(f"{path}: expected a normalizer of type 'BertNormalizer', found {normalizer!r:.60}")
    return {
        "lowercase": normalizer.get("lowercase", True),
        "strip_accents": normalizer.get("strip_accents"),
        "split_cjk": normalizer.get("handle_chinese_chars", True),
        "max_chars_per_word": model.get("max_input_chars_per_word", 100),
    }
