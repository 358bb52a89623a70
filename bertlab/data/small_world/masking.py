"""Sentences with two masked words each, as a BERT reads them, and the smallest loss that any reader can reach there."""

import numpy as np

from bertlab.data.small_world import LONGEST, WORDS, Sentence, conditionals, word_ids
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS

TOKENS = (*SPECIAL_TOKENS, *WORDS)
CLS, SEP, MASK = map(TOKENS.index, ("[CLS]", "[SEP]", "[MASK]"))
MASKED = 2  # words of each sentence


def masked_rows(sentences: list[Sentence], seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Rows for a `PreTrainer` with some words masked, and where: hidden (N, T) bool, without [CLS] and [SEP]."""
    words = word_ids(sentences, LONGEST)  # (N, T)
    lengths = np.array([len(sentence) for sentence in sentences])[:, None]  # (N, 1)
    places = np.arange(words.shape[1])  # (T,)
    drawn = np.where(places < lengths, np.random.default_rng(seed).random(words.shape), 2.0)
    chosen = np.sort(np.argsort(drawn, axis=1)[:, :MASKED], axis=1)  # (N, P)
    hidden = (places[:, None] == chosen[:, None]).any(axis=-1)  # (N, T)
    ids = np.zeros((len(words), words.shape[1] + 2), "int32")  # (N, T + 2)
    ids[:, 0] = CLS
    ids[:, 1:-1] = np.where(hidden, MASK, np.where(places < lengths, words + len(SPECIAL_TOKENS), 0))
    np.put_along_axis(ids, lengths + 1, SEP, axis=1)
    targets = np.take_along_axis(words, chosen, axis=1) + len(SPECIAL_TOKENS)  # (N, P)
    rows = {
        "input_ids": ids,
        "attention_mask": (ids > 0).astype("int32"),
        "masked_lm_positions": (chosen + 1).astype("int32"),
        "masked_lm_ids": targets.astype("int32"),
        "masked_lm_weights": np.ones(targets.shape, "float32"),
    }
    return rows, hidden


def floor_of(sentences: list[Sentence], hidden: np.ndarray) -> float:
    """The mean loss in nats of the best reader at the hidden words."""
    words = word_ids(sentences, LONGEST)
    chances = conditionals(words, hidden)  # (N, T, V + 1)
    return float(-np.log(np.take_along_axis(chances, words[..., None], axis=-1)[..., 0][hidden]).mean())
