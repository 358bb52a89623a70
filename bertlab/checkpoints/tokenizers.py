"""The tokenizer beside a checkpoint; its files show which kind it is.

WordPiece: vocab.txt with tokenizer_config.json, or Hugging Face's tokenizer.json. BPE, byte-level or of words:
vocab.json and merges.txt, or tokenizer.json. SentencePiece: spiece.model; of a model that translates, source.spm,
target.spm and vocab.json. Whole words: words.txt. To add a kind, add it to `bertlab.tokenizers.kinds` and enter it in
`_KINDS`.
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
from bertlab.tokenizers.wordpiece.added import ADDED_FILE
from bertlab.tokenizers.wordpiece.base import Tokenizer

CONFIG = "config.json"
VOCABULARY = "vocab.txt"
TOKENIZER_CONFIG = "tokenizer_config.json"
TOKENIZER_JSON = "tokenizer.json"  # all that transformers 5 writes
_KINDS = (WORDPIECE, BYTE_PAIRS, WORD_PAIRS, SENTENCE_PIECES, TRANSLATION_PIECES, WHOLE_WORDS)
_NEEDED = {  # kind → files, of which there must be one
    WORDPIECE: (VOCABULARY, TOKENIZER_JSON),
    BYTE_PAIRS: ("vocab.json", TOKENIZER_JSON),
    WORD_PAIRS: ("vocab.json", TOKENIZER_JSON),
}


def load_tokenizer(path_or_name: str | Path) -> Tokenizer:
    """The tokenizer of a checkpoint folder or published name.

    Raises CheckpointError if there is no vocabulary, or for a kind of tokenizer that is not supported yet;
    VocabularyError or ConfigError for a file that cannot be used.

    Example:
        >>> load_tokenizer("bertlab-mini").tokenize("A small house.")
        ['a', 'small', 'house', '.']
    """
    folder = _folder(path_or_name)
    kind = _kind_of_files(folder) or (WHOLE_WORDS if options_hdf5.is_checkpoint(folder) else _kind_of_family(folder))
    if kind not in _KINDS:
        raise CheckpointError(
            f"{folder}: this model comes with a {kind} tokenizer, which is not supported (only "
            f"{', '.join(_KINDS)} are); make the ids with its own tokenizer and call the model with them"
        )
    return _load(folder, kind)


def _kind_of_files(folder: Path) -> str | None:
    """The kind whose files are there; None. A vocab.json without merges.txt is of a family with a kind of its own."""
    kind = kind_in(folder)
    if (folder / "vocab.json").exists() and not (folder / "merges.txt").exists():
        of_family = _kind_of_family(folder)
        return of_family if of_family == TRANSLATION_PIECES or of_family not in _KINDS else kind
    return kind


def _kind_of_family(folder: Path) -> str:
    path = folder / CONFIG
    return family_of(load_config(path)).tokenizer if path.exists() else WORDPIECE


def _load(folder: Path, kind: str) -> Tokenizer:
    needed = _NEEDED.get(kind, ())
    if needed and not any((folder / name).exists() for name in needed):
        raise CheckpointError(f"{folder}: there is neither {needed[0]} nor {needed[1]}; copy one from the original")
    if kind == WHOLE_WORDS and not (folder / WORDS_FILE).exists():
        raise CheckpointError(
            f"{folder}: there is no {WORDS_FILE}; write the words of your texts into it, one on each line: "
            f"`bertlab vocab words TEXTS --out {folder / WORDS_FILE}`"
        )
    tokenizer = tokenizer_class(kind).load(folder)
    if kind == WORDPIECE and not any((folder / name).exists() for name in (TOKENIZER_CONFIG, TOKENIZER_JSON)):
        # Google's folders do not say whether it lowercases: a vocabulary with capital letters is cased.
        words = [piece for piece in tokenizer.vocabulary.pieces if not piece.startswith("[")]
        return tokenizer_class(kind)(tokenizer.vocabulary, lowercase=all(word == word.lower() for word in words))
    return tokenizer


def has_tokenizer(path_or_name: str | Path) -> bool:
    """Whether there is a tokenizer beside a checkpoint that `load_tokenizer` can load.

    Example:
        >>> has_tokenizer("bertlab-mini")
        True
    """
    folder = _folder(path_or_name)
    return _kind_of_files(folder) in _KINDS


def _folder(path_or_name: str | Path) -> Path:
    path = find(path_or_name)
    return path if path.is_dir() else path.parent  # Google's bert_model.ckpt is a prefix of several files' names


def check_vocabulary(checkpoint: StoredCheckpoint, padded: bool) -> None:
    """Raises CheckpointError if a checkpoint's vocabulary is not the one that it was trained with.

    A tokenizer that cannot be read, or that belongs to other families, says nothing about the weights.
    padded: the token table may have more rows than the vocabulary has tokens; a warning tells how many.
    """
    folder, recorded = checkpoint.folder, checkpoint.vocabulary_sha256
    try:
        kind = kind_in(folder)
        if kind not in _KINDS or (recorded is None and family_of(checkpoint.config).tokenizer not in (WORDPIECE, kind)):
            return
        vocabulary = _load(folder, kind).vocabulary
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
