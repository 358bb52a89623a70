"""The tokenizer beside a checkpoint; its files show which kind it is.

WordPiece: vocab.txt with tokenizer_config.json, or Hugging Face's tokenizer.json. BPE, byte-level or of words:
vocab.json and merges.txt, or tokenizer.json. SentencePiece: spiece.model; of a model that translates, source.spm,
target.spm and vocab.json. Whole words: words.txt. To add a kind, write a function that loads one from a folder and
enter it in `_LOADERS`; what it returns is a `bertlab.tokenizers.wordpiece.base.Tokenizer`.
"""

import warnings
from pathlib import Path

from bertlab.checkpoints import options_hdf5
from bertlab.checkpoints.opening import find
from bertlab.checkpoints.stored import StoredCheckpoint
from bertlab.common.errors import (
    BertLabWarning,
    CheckpointError,
    ConfigError,
    MissingDependencyError,
    VocabularyError,
    asked,
)
from bertlab.families import family_of, load_config
from bertlab.tokenizers.kinds import (
    BYTE_PAIRS,
    SENTENCE_PIECES,
    TRANSLATION_PIECES,
    WHOLE_WORDS,
    WORD_PAIRS,
    WORDPIECE,
    kind_in,
    tokenizer_class,
)
from bertlab.tokenizers.whole_words import WORDS_FILE
from bertlab.tokenizers.wordpiece import WordPieceTokenizer
from bertlab.tokenizers.wordpiece.added import ADDED_FILE
from bertlab.tokenizers.wordpiece.base import Tokenizer

CONFIG = "config.json"
VOCABULARY = "vocab.txt"
TOKENIZER_CONFIG = "tokenizer_config.json"
TOKENIZER_JSON = "tokenizer.json"  # all that transformers 5 writes


def load_tokenizer(path_or_name: str | Path) -> Tokenizer:
    """The tokenizer of a checkpoint folder or published name.

    Raises CheckpointError if there is no vocabulary, or for a kind of tokenizer that is not supported yet;
    VocabularyError or ConfigError for a file that cannot be used.

    Example:
        >>> load_tokenizer("bertlab-mini").tokenize("A small house.")
        ['a', 'small', 'house', '.']
    """
    folder = _folder(path_or_name)
    kind = _kind_in(folder)
    if kind not in _LOADERS:
        raise CheckpointError(
            f"{folder}: this model comes with a {kind} tokenizer, which is not supported (only "
            f"{', '.join(_LOADERS)} are); make the ids with its own tokenizer and call the model with them"
        )
    return _LOADERS[kind](folder)


def _kind_in(folder: Path) -> str:
    """The kind whose files are there; without files, the one that the config's family has."""
    return _kind_of_files(folder) or (WHOLE_WORDS if options_hdf5.is_checkpoint(folder) else _kind_of_family(folder))


def _kind_of_files(folder: Path) -> str | None:
    """The kind whose files are there; None. A vocab.json without merges.txt is of a family with a kind of its own."""
    kind = kind_in(folder)
    if (folder / "vocab.json").exists() and not (folder / "merges.txt").exists():
        of_family = _kind_of_family(folder)
        return of_family if of_family == TRANSLATION_PIECES or of_family not in _LOADERS else kind
    return kind


def _kind_of_family(folder: Path) -> str:
    path = folder / CONFIG
    return family_of(load_config(path)).tokenizer if path.exists() else WORDPIECE


def _load_wordpiece(folder: Path):
    """Whether it lowercases is read from tokenizer_config.json or tokenizer.json. Google's originals have neither; then
    a vocabulary with capital letters is cased.
    """
    if not any((folder / name).exists() for name in (VOCABULARY, TOKENIZER_JSON)):
        raise CheckpointError(
            f"{folder}: there is neither {VOCABULARY} nor {TOKENIZER_JSON}; copy one from the original"
        )
    tokenizer = WordPieceTokenizer.load(folder)
    if any((folder / name).exists() for name in (TOKENIZER_CONFIG, TOKENIZER_JSON)):
        return tokenizer
    return WordPieceTokenizer(tokenizer.vocabulary, lowercase=not _is_cased(tokenizer.vocabulary))


def has_tokenizer(path_or_name: str | Path) -> bool:
    """Whether there is a tokenizer beside a checkpoint that `load_tokenizer` can load.

    Example:
        >>> has_tokenizer("bertlab-mini")
        True
    """
    folder = _folder(path_or_name)
    return _kind_of_files(folder) in _LOADERS


def _folder(path_or_name: str | Path) -> Path:
    path = find(path_or_name)
    return path if path.is_dir() else path.parent  # Google's bert_model.ckpt is a prefix of several files' names


def _is_cased(vocabulary) -> bool:
    return any(piece != piece.lower() for piece in vocabulary.pieces if not piece.startswith("["))


def _load_byte_pairs(folder: Path, kind: str = BYTE_PAIRS):
    names = ("vocab.json", TOKENIZER_JSON)
    if not any((folder / name).exists() for name in names):
        raise CheckpointError(f"{folder}: there is neither {names[0]} nor {names[1]}; copy one from the original")
    return tokenizer_class(kind).load(folder)


def _load_word_pairs(folder: Path):
    return _load_byte_pairs(folder, WORD_PAIRS)


def _load_sentence_pieces(folder: Path):
    return tokenizer_class(SENTENCE_PIECES).load(folder)


def _load_translation_pieces(folder: Path):
    return tokenizer_class(TRANSLATION_PIECES).load(folder)


def _load_whole_words(folder: Path):
    if not (folder / WORDS_FILE).exists():
        raise CheckpointError(
            f"{folder}: there is no {WORDS_FILE}; write the words of your texts into it, one on each line: "
            f"`bertlab vocab words TEXTS --out {folder / WORDS_FILE}`"
        )
    return tokenizer_class(WHOLE_WORDS).load(folder)


_LOADERS = {  # kind of tokenizer → function of a folder
    WORDPIECE: _load_wordpiece,
    BYTE_PAIRS: _load_byte_pairs,
    WORD_PAIRS: _load_word_pairs,
    SENTENCE_PIECES: _load_sentence_pieces,
    TRANSLATION_PIECES: _load_translation_pieces,
    WHOLE_WORDS: _load_whole_words,
}


def check_vocabulary(checkpoint: StoredCheckpoint, padded: bool) -> None:
    """Raises CheckpointError if a checkpoint's vocabulary is not the one that it was trained with.

    A tokenizer that cannot be read, or that belongs to other families, says nothing about the weights.
    padded: the token table may have more rows than the vocabulary has tokens; a warning tells how many.
    """
    folder, recorded = checkpoint.folder, checkpoint.vocabulary_sha256
    try:
        kind = kind_in(folder)
        if kind not in _LOADERS or (
            recorded is None and family_of(checkpoint.config).tokenizer not in (WORDPIECE, kind)
        ):
            return
        vocabulary = _LOADERS[kind](folder).vocabulary
    except (CheckpointError, VocabularyError, ConfigError, MissingDependencyError):
        return  # load_tokenizer names the damage
    path = next(path for path in (folder / vocabulary.file, folder / TOKENIZER_JSON, folder) if path.exists())
    if recorded not in (None, vocabulary.sha256):
        raise CheckpointError(
            f"{path}: is not the vocabulary that {checkpoint.weights_name} was saved with; copy the one of that model"
        )
    if recorded is None:
        _check_count(path, len(vocabulary), checkpoint.config.vocab_size, padded)


def _check_count(path: Path, pieces: int, rows: int, padded: bool) -> None:
    if pieces == rows:
        return
    lacking = f"{path}: has {pieces} tokens, but the config's vocab_size is {rows}"
    if pieces > rows:
        raise CheckpointError(f"{lacking}; take the vocabulary that belongs to the weights")
    shifted = "if a token is missing from the file, all later ids are wrong: take the original file"
    if padded:
        warnings.warn(
            f"{lacking}: the last {rows - pieces} rows of the token table are taken for padding; {shifted}",
            BertLabWarning,
            stacklevel=4,
        )
        return
    convert = "convert the checkpoint with `bertlab convert … --to bertlab --padded-vocabulary` and take that folder"
    accept = asked(convert, "load with padded_vocabulary=True")
    added = f"if tokens were added to it, copy {ADDED_FILE} or {TOKENIZER_JSON} too"
    raise CheckpointError(f"{lacking}; {shifted}; {added}; if the rows beyond it are padding, {accept}")
