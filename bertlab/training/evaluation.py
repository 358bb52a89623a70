"""Judging a pre-trained model on held-out rows: always the same rows, the same masks, comparable between models.

The baseline is the best guess that does not look at the text: every piece by its share of these very targets. Its
loss is their entropy, so no guesser without context can do better, whatever it was trained on.
"""

from pathlib import Path

import numpy as np

from bertlab.data.pretraining.live import batches_of
from bertlab.data.pretraining.records import VOCABULARY, ExampleFiles
from bertlab.errors import DataError
from bertlab.training.callbacks import measured, perplexity
from bertlab.training.vocabularies import check_same_tokenizer
from bertlab.wordpiece import Vocabulary

ROWS, SEED = 4096, 0
_CHUNK = 64  # rows whose masks are drawn together


def fixed_batches(files: ExampleFiles, batch_size: int, rows: int, causal: bool = False):
    """`rows` rows of a folder in batches, the last of which may be shorter.

    Rows, order and masks never change, whatever the batch size: masks that are drawn now are drawn for `_CHUNK` rows at
    a time. causal: targets for a left-to-right model. Returns a `tf.data.Dataset`.
    """
    import tensorflow as tf

    from bertlab.training.targets import with_next_tokens

    vocabulary = Vocabulary.from_file(files.folder / VOCABULARY)
    chunks = batches_of(files, _CHUNK, SEED, drop_remainder=False, vocabulary=vocabulary, settings=files.settings)
    batches = chunks.unbatch().take(rows).batch(batch_size, drop_remainder=rows % batch_size == 0)
    # Unbatched, their number is unknown, and Keras warns at their end that the data ran out.
    batches = batches.apply(tf.data.experimental.assert_cardinality(-(-rows // batch_size)))
    return with_next_tokens(batches) if causal else batches


def evaluate(model, data: str | Path, rows: int = ROWS, batch_size: int = 64, tokenizer=None) -> dict:
    """Loss, perplexity and accuracy of a `BertForPreTraining` on (at most) `rows` rows of a folder of examples.

    tokenizer: the model's, if known; the folder must then have been made with the same one.
    Returns a dict: rows, predictions, masked_lm_loss (nats), masked_lm_perplexity, masked_lm_accuracy (next_token_…
    for a left-to-right model), unigram_loss, unigram_accuracy, and next_sentence_loss and next_sentence_accuracy
    where the rows are pairs and the model has the head. The same model and folder give the same figures, up to rounding
    whatever the batch size.
    Raises DataError for rows that the model cannot read.
    """
    import keras

    from bertlab.training.pretrainer import PreTrainer

    files = ExampleFiles(data)
    check_readable(files, model.config)
    if tokenizer is not None:
        check_same_tokenizer(files, tokenizer, "the model")
    rows = min(rows, len(files))
    batches = fixed_batches(files, min(batch_size, rows), rows, model.config.causal).cache()
    trainer = PreTrainer(model)
    trainer.compile(jit_compile=keras.backend.backend() != "torch")
    figures = measured(trainer.evaluate(batches, verbose=0, return_dict=True))
    figures = {name: value for name, value in figures.items() if name not in ("loss", "tokens")}
    figures[f"{trainer.task}_perplexity"] = perplexity(figures[f"{trainer.task}_loss"])
    targets = _targets(batches)
    return {"rows": rows, "predictions": len(targets), **dict(sorted(figures.items())), **unigram(targets)}


def check_readable(files: ExampleFiles, config) -> None:
    """Raises DataError if the rows are longer than the model's positions or made with a larger vocabulary."""
    length, pieces = files.settings.sequence_length, files.manifest["vocabulary"]["pieces"]
    if length > config.max_tokens:
        raise DataError(
            f"{files.folder}: rows of {length} tokens, but the model has {config.max_tokens} positions: "
            f"make rows of that length with `bertlab data make --sequence-length {config.max_tokens}`"
        )
    if pieces > config.vocab_size:
        raise DataError(
            f"{files.folder}: made with a vocabulary of {pieces} pieces, the model knows {config.vocab_size}: make "
            "the examples with the model's vocab.txt"
        )


def _targets(batches) -> np.ndarray:
    """All targets that count: (N,)."""
    return np.concatenate(
        [batch["masked_lm_ids"][batch["masked_lm_weights"] > 0] for batch in batches.as_numpy_iterator()]
    )


def unigram(targets: np.ndarray) -> dict:
    """Loss and accuracy of guessing each piece by its share of the targets (N,)."""
    shares = np.bincount(targets) / len(targets)
    return {
        "unigram_loss": float(-np.log(shares[targets]).mean()),
        "unigram_accuracy": float(shares.max()),
    }
