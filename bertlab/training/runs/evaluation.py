"""Evaluates a pre-trained model on held-out rows: always the same rows and masks, so that models can be compared."""

from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from bertlab.common.errors import DataError
from bertlab.data.pretraining.datasets import batches_of
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.families import family_of
from bertlab.training.objectives import Objective, collators_of, objectives_of
from bertlab.training.runs.loop import measured, perplexity
from bertlab.training.runs.models import check_same_tokenizer
from bertlab.training.runs.pretrainer import PreTrainer

ROWS, SEED = 4096, 0
_CHUNK = 64  # rows whose masks are drawn together


def fixed_batches(files: ExampleFiles, batch_size: int, rows: int, objectives: Sequence[Objective]) -> tf.data.Dataset:
    """`rows` rows of a folder in batches, the last of which may be shorter, with the targets of some objectives.

    Rows, order and masks never change, at any batch size: new masks are always drawn for `_CHUNK` rows at a time.
    """
    collators = collators_of(objectives, files.settings, files.tokenizer.vocabulary, SEED)
    chunks = batches_of(files, _CHUNK, SEED, drop_remainder=False, collators=collators)
    batches = chunks.unbatch().take(rows).batch(batch_size, drop_remainder=rows % batch_size == 0)
    # Unbatched, their number is unknown, and Keras warns at their end that the data ran out.
    return batches.apply(tf.data.experimental.assert_cardinality(-(-rows // batch_size)))


def evaluate(model, data: str | Path, rows: int = ROWS, batch_size: int = 64, tokenizer=None) -> dict:
    """Loss, perplexity and accuracy of a pre-trained model on (at most) `rows` rows of a folder of examples.

    model: a `PreTrainingModel`, or a `GeneratorAndDiscriminator` (see `models.model_to_evaluate`).
    tokenizer: the model's, if known; the folder must then have been made with the same one.
    Returns a dict: rows, predictions; NAME_loss (nats), NAME_accuracy and NAME_perplexity of every objective that the
    rows have items for; unigram_loss and unigram_accuracy, see `unigram_baseline`. The numbers are the same, up to
    rounding, at any batch size. Raises DataError for rows that the model cannot read.

    Example:
        evaluate(checkpoints.load("run/checkpoint", "pretraining"), "held-out")["masked_lm_accuracy"]
    """
    files = ExampleFiles(data)
    check_readable(files, model.config)
    if tokenizer is not None:
        check_same_tokenizer(files.folder, files.tokenizer, tokenizer, "the model")
    trainer = PreTrainer(model, objectives=objectives_of(model, files.settings.sentence_order))
    trainer.compile(jit_compile=keras.backend.backend() != "torch")
    rows = min(rows, len(files))
    batches = fixed_batches(files, min(batch_size, rows), rows, trainer.objectives).cache()
    metrics = measured(trainer.evaluate(batches, verbose=0, return_dict=True))
    metrics = {name: value for name, value in metrics.items() if name not in ("loss", "tokens")}
    over_vocabulary = [objective for objective in trainer.objectives if objective.over_vocabulary]
    for objective in over_vocabulary:
        metrics[f"{objective.name}_perplexity"] = perplexity(metrics[f"{objective.name}_loss"])
    predicted = [
        one.labels(batch, {})[one.weights(batch) > 0]
        for batch in batches.as_numpy_iterator()
        for one in over_vocabulary
    ]
    targets = np.concatenate(predicted)  # (N,)
    return {"rows": rows, "predictions": len(targets), **dict(sorted(metrics.items())), **unigram_baseline(targets)}


def check_readable(files: ExampleFiles, config) -> None:
    """Raises DataError for rows that a model cannot read.

    They must not be longer than its positions nor made with a larger vocabulary, and have targets if, and only if, it
    has a decoder.
    """
    has_targets, has_decoder = bool(files.settings.target_length), bool(family_of(config).decoder)
    if has_targets and not has_decoder:
        raise DataError(
            f"{files.folder}: holds sources and targets, which a model of {config.model_type} cannot learn from; "
            "choose one with a decoder, or make examples of running text with `bertlab data make`"
        )
    if has_decoder and not has_targets:
        raise DataError(
            f"{files.folder}: expected sources and targets for a model with a decoder, got running text; make them "
            "with `bertlab data pairs`"
        )
    length, tokens = files.settings.longest, files.manifest["vocabulary"]["pieces"]
    if length > config.max_tokens:
        raise DataError(
            f"{files.folder}: rows of {length} tokens, but the model has {config.max_tokens} positions: make rows of "
            f"that length with `bertlab data make --sequence-length {config.max_tokens}`, or choose a model with more"
        )
    rows = min(config.vocab_size, config.target_vocab_size)
    if tokens > rows:
        raise DataError(
            f"{files.folder}: made with a vocabulary of {tokens} tokens, the model has {rows}: make the examples with "
            "the model's vocabulary, or choose a larger vocab_size"
        )


def unigram_baseline(targets: np.ndarray, training_tokens: np.ndarray | None = None, vocab_size: int = 0) -> dict:
    """Loss and accuracy of guessing every token by how frequent it is, without looking at the text.

    Args:
        targets: (N,) int, the tokens to predict.
        training_tokens: (M,) int, where the frequencies come from; every count is increased by 1, so that no token is
            impossible. If left out, they come from the targets themselves: then the loss is their entropy, and no guess
            without context can do better.
        vocab_size: tokens in the vocabulary; by default the largest id that occurs, plus 1.

    Returns unigram_loss, in nats, and unigram_accuracy.

    Example:
        unigram_baseline(np.array([7, 7, 5, 9]))["unigram_accuracy"]  # 0.5: always 7
    """
    if training_tokens is None:
        counts = np.bincount(targets)
    else:
        vocab_size = max(vocab_size, training_tokens.max() + 1, targets.max() + 1)
        counts = np.bincount(training_tokens, minlength=vocab_size) + 1
    shares = counts / counts.sum()
    return {
        "unigram_loss": float(-np.log(shares[targets]).mean()),
        "unigram_accuracy": float((targets == shares.argmax()).mean()),
    }
