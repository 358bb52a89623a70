"""Which tokenizer a folder of examples was made with, and whether a model has the same one."""

from bertlab.data.pretraining.records import VOCABULARY, ExampleFiles
from bertlab.errors import DataError
from bertlab.wordpiece import Vocabulary, WordPieceTokenizer


def tokenizer_of(files: ExampleFiles) -> WordPieceTokenizer:
    """The tokenizer with which a folder of examples was made."""
    return WordPieceTokenizer(Vocabulary.from_file(files.folder / VOCABULARY), **files.manifest["tokenizer"])


def check_same_tokenizer(files: ExampleFiles, tokenizer: WordPieceTokenizer, owner) -> None:
    """Raises DataError unless a folder was made with the tokens and the treatment of capitals of `tokenizer`.

    owner: whose tokenizer it is, for the message: a checkpoint or another folder.
    """
    made_with = tokenizer_of(files)
    if made_with.vocabulary.pieces != tokenizer.vocabulary.pieces:
        raise DataError(
            f"{files.folder}: made with another vocabulary than {owner}; make it again with the vocab.txt of {owner}"
        )
    here, there = _treatment(made_with), _treatment(tokenizer)
    if here != there:
        advice = "without --cased" if tokenizer.lowercase else "with --cased"
        raise DataError(
            f"{files.folder}: expected text {there}, as in {owner}, got text {here}; make it again {advice} "
            "(`bertlab data make`)"
        )


def _treatment(tokenizer: WordPieceTokenizer) -> str:
    strips = tokenizer.lowercase if tokenizer.strip_accents is None else tokenizer.strip_accents
    return (
        f"{'in lower case' if tokenizer.lowercase else 'with capitals'} and {'without' if strips else 'with'} accents"
    )
