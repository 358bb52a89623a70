"""The model at the end of a run, written as a checkpoint."""

from pathlib import Path

from bertlab import checkpoints
from bertlab.checkpoints.saving import format_of


def save_trained(bert, folder: Path, tokenizer) -> None:
    """Saves a model without the padding of its token table; in Hugging Face's format where that can hold it."""
    bert = without_padding(bert, len(tokenizer.vocabulary))
    checkpoints.save(bert, folder, tokenizer, format=format_of(bert))


def without_padding(bert, pieces: int):
    """The same model with a token table of `pieces` rows, in float32; the model itself if it has just these."""
    if bert.config.vocab_size == pieces:
        return bert
    options = bert.get_config()
    options["config"]["vocab_size"] = pieces
    smaller = type(bert).from_config({**options, "dtype": "float32"})
    for ours, theirs in zip(smaller.variables, bert.variables, strict=True):
        cut = tuple(slice(size) for size in ours.shape)
        ours.assign(theirs.numpy()[cut])
    return smaller
