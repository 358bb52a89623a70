"""Baselines: guesses without looking at the text, to compare a model with."""

import numpy as np


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
