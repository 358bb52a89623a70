"""Which tokenizer a folder of examples was made with, and whether a model has the same one."""

from bertlab.common.errors import DataError
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.tokenizers.wordpiece.base import Tokenizer


def check_same_tokenizer(files: ExampleFiles, tokenizer: Tokenizer, owner) -> None:
    """Raises DataError unless a folder was made with the tokens and the treatment of capitals of `tokenizer`.

    owner: whose tokenizer it is, for the message: a checkpoint or another folder.
    """
    made_with = files.tokenizer
    if made_with.kind != tokenizer.kind:
        raise DataError(
            f"{files.folder}: expected the tokenizer of {owner}, {tokenizer.kind}, got {made_with.kind}; make it again "
            "with the vocabulary of that"
        )
    if made_with.vocabulary != tokenizer.vocabulary:
        raise DataError(
            f"{files.folder}: made with another vocabulary than {owner}; make it again with the vocabulary of {owner}"
        )
    if not hasattr(tokenizer, "lowercase"):  # nothing is done to the text
        return
    here, there = treatment(made_with), treatment(tokenizer)
    if here != there:
        advice = "without --cased" if tokenizer.lowercase else "with --cased"
        raise DataError(
            f"{files.folder}: expected text {there}, as in {owner}, got text {here}; make it again {advice} "
            "(`bertlab data make`)"
        )


def treatment(tokenizer) -> str:
    """The treatment of capitals and accents by a tokenizer, in words."""
    strips = tokenizer.lowercase if tokenizer.strip_accents is None else tokenizer.strip_accents
    return (
        f"{'in lower case' if tokenizer.lowercase else 'with capitals'} and {'without' if strips else 'with'} accents"
    )
