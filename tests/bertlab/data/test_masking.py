"""Which tokens are predicted and what replaces them. Each statistical check states how often it fails by chance."""

import numpy as np
import pytest
from example_text import PIECES
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from bertlab.common.errors import ConfigError, VocabularyError
from bertlab.data.pretraining.masking import PieceTable, mask_rows
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, Vocabulary

TABLE = PieceTable.of(Vocabulary(PIECES))
FIRST_REGULAR = 6  # after the five special tokens and [unused0]
SPECIAL = [TABLE.cls, TABLE.sep, TABLE.pad]


def make_rows(rows: int, width: int, seed: int, shortest: int = 1) -> np.ndarray:
    """Random rows [CLS] … [SEP] [PAD] … with at least `shortest` ordinary tokens each."""
    rng = np.random.default_rng(seed)
    ids = rng.integers(FIRST_REGULAR, len(PIECES), (rows, width)).astype(np.int32)
    lengths = rng.integers(shortest + 2, width + 1, rows)
    ids[:, 0] = TABLE.cls
    ids[np.arange(rows), lengths - 1] = TABLE.sep
    ids[np.arange(width) >= lengths[:, None]] = TABLE.pad
    return ids


def restore(masked: dict) -> np.ndarray:
    """The rows before masking: every predicted token is the original one again."""
    ids = masked["input_ids"].copy()
    rows, slots = np.nonzero(masked["masked_lm_weights"])
    ids[rows, masked["masked_lm_positions"][rows, slots]] = masked["masked_lm_ids"][rows, slots]
    return ids


choices = st.fixed_dictionaries(
    dict(whole_word_masking=st.booleans(), max_ngram=st.integers(1, 4), masked_lm_probability=st.floats(0, 1))
)


@given(seed=st.integers(0, 2**32), width=st.integers(8, 40), chosen=choices, limit=st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_originals_come_back_and_special_tokens_are_never_touched(seed, width, chosen, limit):
    ids = make_rows(7, width, seed)
    made = ExampleSettings(sequence_length=width, max_predictions=limit, **chosen)
    masked = mask_rows(ids, TABLE, made, np.random.default_rng(seed))
    weights, positions = masked["masked_lm_weights"], masked["masked_lm_positions"]
    assert (restore(masked) == ids).all()
    for row in range(len(ids)):
        used = weights[row] > 0
        assert used.sum() >= 1 and not used[used.sum() :].any()
        assert (np.diff(positions[row][used]) > 0).all()
        assert not np.isin(ids[row, positions[row][used]], SPECIAL).any()
        assert not positions[row][~used].any() and not masked["masked_lm_ids"][row][~used].any()


def test_a_row_predicts_fifteen_percent_of_its_tokens_rounded_and_at_least_one():
    ids = make_rows(500, 128, seed=1)
    masked = mask_rows(ids, TABLE, ExampleSettings(), np.random.default_rng(0))
    lengths = (ids != TABLE.pad).sum(axis=1)
    expected = np.clip(np.rint(0.15 * lengths), 1, lengths - 2)
    assert (masked["masked_lm_weights"].sum(axis=1) == expected).all()
    assert masked["masked_lm_positions"].shape == (500, 20)
    fewer = mask_rows(ids, TABLE, ExampleSettings(max_predictions=3), np.random.default_rng(0))["masked_lm_weights"]
    assert fewer.shape == (500, 3) and fewer.sum(axis=1).max() == 3


def test_replacements_are_80_10_10_and_never_special():
    """Normal bounds of 5 standard deviations on three shares: false alarm below 2·10⁻⁶."""
    ids = make_rows(20_000, 64, seed=2)
    masked = mask_rows(ids, TABLE, ExampleSettings(sequence_length=64), np.random.default_rng(3))
    used = masked["masked_lm_weights"] > 0
    shown = np.take_along_axis(masked["input_ids"], masked["masked_lm_positions"], axis=1)[used]
    originals, count = masked["masked_lm_ids"][used], used.sum()
    by_chance = 0.1 / len(TABLE.replacements)  # a random token that happens to be the original
    for share, expected in (
        ((shown == TABLE.mask).mean(), 0.8),
        ((shown == originals).mean(), 0.1 + by_chance),
        (((shown != originals) & (shown != TABLE.mask)).mean(), 0.1 - by_chance),
    ):
        assert abs(share - expected) < 5 * np.sqrt(expected * (1 - expected) / count)
    other = shown[shown != TABLE.mask]
    assert other.min() >= FIRST_REGULAR
    assert set(TABLE.replacements) == set(range(FIRST_REGULAR, len(PIECES)))


def test_every_position_is_predicted_equally_often():
    """χ² over 62 positions beyond its 10⁻⁶ quantile (61 degrees of freedom: 131): false alarm about 10⁻⁶."""
    ids = make_rows(20_000, 64, seed=2, shortest=62)
    masked = mask_rows(ids, TABLE, ExampleSettings(sequence_length=64), np.random.default_rng(3))
    used = masked["masked_lm_weights"] > 0
    counts = np.bincount(masked["masked_lm_positions"][used], minlength=64)
    assert counts[0] == counts[63] == 0
    inner = counts[1:63]
    variance = inner.mean() * (1 - 10 / 62)  # 10 of 62 drawn without replacement
    assert ((inner - inner.mean()) ** 2 / variance).sum() < 131


def test_whole_words_are_predicted_together_or_not_at_all():
    ids = make_rows(300, 64, seed=4)
    chosen = ExampleSettings(sequence_length=64, whole_word_masking=True)
    masked = mask_rows(ids, TABLE, chosen, np.random.default_rng(0))
    predicted = np.zeros(ids.shape, bool)
    rows, slots = np.nonzero(masked["masked_lm_weights"])
    predicted[rows, masked["masked_lm_positions"][rows, slots]] = True
    continues = TABLE.continues[ids]
    follows = ~np.isin(np.roll(ids, 1, axis=1), SPECIAL)  # a ## right after a special token begins a word of its own
    same_word = (continues & follows)[:, 1:]
    assert same_word.sum() > 1000
    split = (predicted[:, 1:] != predicted[:, :-1]) & same_word
    runs = (predicted[:, 1:] & ~predicted[:, :-1]).sum(axis=1)
    assert not split[runs > 1].any()  # one run: a row all of whose words are longer than its budget
    assert split.any(axis=1).mean() < 0.05


def test_ngrams_make_longer_runs_than_single_tokens():
    ids = make_rows(2000, 128, seed=5, shortest=120)

    def runs_per_prediction(longest: int) -> float:
        chosen = ExampleSettings(max_ngram=longest)
        masked = mask_rows(ids, TABLE, chosen, np.random.default_rng(0))
        used, positions = masked["masked_lm_weights"] > 0, masked["masked_lm_positions"]
        begins = used[:, 1:] & (np.diff(positions, axis=1) > 1)
        return (begins.sum() + len(ids)) / used.sum()

    # runs of n ∝ 1/n up to 3 have a mean length of 3 / (1 + 1/2 + 1/3) = 1.64; neighbours that touch lengthen both
    ratio = runs_per_prediction(1) / runs_per_prediction(3)
    assert 1.45 < ratio < 1.75


def test_the_same_generator_gives_the_same_masks():
    ids = make_rows(20, 64, seed=6)
    chosen = ExampleSettings(sequence_length=64, whole_word_masking=True, max_ngram=3)
    first, again = (mask_rows(ids, TABLE, chosen, np.random.default_rng(9)) for _ in range(2))
    assert all((first[name] == again[name]).all() for name in first)


def test_a_vocabulary_of_special_tokens_is_refused():
    refused("special tokens only", PieceTable.of, Vocabulary(SPECIAL_TOKENS), error=VocabularyError)
    refused(r"\[MASK\]", Vocabulary, [piece for piece in PIECES if piece != "[MASK]"], error=VocabularyError)


@pytest.mark.parametrize(
    "changes, message",
    [
        (dict(mask_share=0.9), "expected a sum of 1"),
        (dict(sequence_length=4), "at least 8"),
        (dict(masked_lm_probability=1.5), "at most 1; got 1.5"),
        (dict(packing=True), "one \\[CLS\\]"),
        (dict(procedure="original", max_ngram=2), "needs max_ngram=1"),
        (dict(seed=-1), "seed"),
        (dict(max_predictions=200), r"expected 1 to sequence_length \(128\); got 200"),
    ],
)
def test_settings_that_contradict_themselves_are_refused(changes, message):
    refused(message, ExampleSettings, **changes, error=ConfigError)
