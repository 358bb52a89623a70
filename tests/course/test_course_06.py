"""Notebook 06: the lectures' worked examples and what its prose states, asserted on the solutions' functions."""

import numpy as np
import pytest
from notebook_loading import code_with, names_of_notebook  # noqa: F401 (a fixture)

from autograde.boundary import mybert_importer
from autograde.exercises import catalogue

NOTEBOOK = "06_pretraining_data"


def test_the_cat_sat_is_masked_as_in_the_lecture_under_some_seed(names):
    for seed in range(200):
        masked, positions = names["mask_each"]([21, 11987, 5438], 50001, 0.5, np.random.default_rng(seed))
        if positions == [0, 2]:
            break
    assert masked == [50001, 11987, 50001]
    assert {t + 1 for t in positions} == {1, 3}  # as the lecture counts


def test_the_number_of_predictions_is_the_published_scripts_for_every_length_and_rounds_a_tie_to_even(names):
    count = names["number_of_predictions"]
    assert [count(n) for n in (10, 30, 70, 110)] == [2, 4, 10, 16]  # 1.5, 4.5, 10.5, 16.5
    for tokens in range(1, 513):
        for max_predictions in (20, 77):
            published = min(max_predictions, max(1, int(round(tokens * 0.15))))
            assert count(tokens, max_predictions) == published


@pytest.mark.parametrize(
    ("second", "places", "label", "shown", "labels"),
    [
        ("he bought a gallon of milk", [5, 12], 0,
         "[CLS] the man went to [MASK] store [SEP] he bought a gallon [MASK] milk [SEP]", ["the", "of"]),
        ("penguin ##s are flight ##less birds", [3, 9], 1,
         "[CLS] the man [MASK] to the store [SEP] penguin [MASK] are flight ##less birds [SEP]", ["went", "##s"]),
    ],
)  # fmt: skip
def test_the_lectures_two_pairs_become_its_two_rows(names, second, places, label, shown, labels):
    pieces = f"[CLS] the man went to the store [SEP] {second} [SEP]".split()
    vocabulary = ["[PAD]", "[MASK]", *sorted(set(pieces))]
    original = [vocabulary.index(piece) for piece in pieces]
    masked = [1 if t in places else token for t, token in enumerate(original)]
    example = names["make_example"](original, masked, [0] * 8 + [1] * 7, places, label, 18, 3)
    assert " ".join(vocabulary[token] for token in example["input_ids"][:15]) == shown
    assert [vocabulary[token] for token in example["masked_lm_ids"][:2]] == labels
    assert example["masked_lm_weights"] == [1.0, 1.0, 0.0] and example["next_sentence_labels"] == label
    assert len(places) == names["number_of_predictions"](len(pieces))


def test_how_are_you_doing_today_becomes_the_lectures_cloze_in_four_of_five_cases(names):
    row = "[CLS] how are you doing today [SEP]".split()
    rng = np.random.default_rng(80)
    seen = [names["mask_tokens"](list(range(7)), [3], 50, [60, 61], rng) for _ in range(2000)]
    cloze = [0, 1, 2, 50, 4, 5, 6]
    shown = " ".join("[MASK]" if token == 50 else row[token] for token in cloze)
    assert shown == "[CLS] how are [MASK] doing today [SEP]"
    assert 1500 < sum(ids == cloze for ids in seen) < 1700  # 1600 ± 5 standard deviations


def test_the_lectures_penguin_s_is_hidden_by_tokens_and_never_by_words(names):
    pieces = "[CLS] the man went to the store [SEP] penguin ##s are flight ##less birds [SEP]".split()
    exec(code_with(NOTEBOOK, "SPECIAL = ("), names)  # given, to read
    words = names["whole_words"](pieces)
    assert [8, 9] in words and [11, 12] in words and len(words) == 10
    rng = np.random.default_rng(5)
    together = [set(names["choose_words"](words, 4, rng)) & {8, 9} for _ in range(200)]
    assert all(found in (set(), {8, 9}) for found in together) and {8, 9} in together
    alone = [set(names["choose_positions"](list(range(15)), [0, 7, 14], 4, rng)) & {8, 9} for _ in range(200)]
    assert {9} in alone


def test_the_same_seed_gives_the_same_batches(names):
    examples = {"input_ids": np.arange(60, dtype="int32").reshape(20, 3)}
    one, again, other = (
        [batch["input_ids"].numpy() for batch in names["batches"](examples, 4, seed).take(10)] for seed in (1, 1, 2)
    )
    assert np.array_equal(one, again) and not np.array_equal(one, other)


def test_later_notebooks_find_every_answer_among_the_stand_ins():
    with mybert_importer.only_stand_ins():
        from mybert import data

        for exercise in catalogue.of_notebook("06_pretraining_data"):
            assert callable(getattr(data, exercise.names[0]))
