"""Notebook 02: its worked numbers, and the two claims that came with it (a call that is refused, dropout)."""

import numpy as np
import pytest
from autograde_case import verdict_on, verdict_on_changed
from keras import ops
from notebook_loading import names_of_notebook  # noqa: F401 (a fixture)

from autograde.boundary import call_answer, mybert_importer
from autograde.exercises import catalogue, cells
from autograde.exercises.planning import planner

NOTEBOOK = "02_embeddings"


def test_the_lectures_eleven_tokens_are_six_of_a_and_five_of_b(names):
    line = "[CLS] my dog is cute [SEP] he likes play ##ing [SEP]".split()
    vocabulary = {piece: place for place, piece in enumerate(["[PAD]", *dict.fromkeys(line)])}
    token_ids = ops.convert_to_tensor([[vocabulary[piece] for piece in line]])
    segments = names["segment_ids"](token_ids, vocabulary["[SEP]"], 0)
    assert np.array(segments).tolist() == [[0] * 6 + [1] * 5]


def test_a_look_up_by_product_is_a_gather_of_the_lectures_three_ids(names):
    table = ops.convert_to_tensor(np.random.default_rng(0).normal(size=(12000, 4)).astype("float32"))
    ids = ops.convert_to_tensor([21, 11987, 5438])
    assert np.array_equal(names["token_embeddings"](ids, table), ops.take(table, ids, axis=0))


def test_the_first_position_is_zero_one_and_the_fastest_hand_goes_round_in_two_pi(names):
    clock = np.array(names["sinusoids"](3, 6))
    assert clock[0].tolist() == [0, 1, 0, 1, 0, 1]
    assert np.allclose(clock[:, 0], np.sin([0, 1, 2]), atol=1e-6)


def test_going_further_is_one_rotation_wherever_one_starts(names):
    clock = np.array(names["sinusoids"](30, 8))
    pairs = clock[:, 1::2] + 1j * clock[:, 0::2]  # each hand as a complex number
    turns = pairs[5:] / pairs[:-5]
    assert np.allclose(turns, turns[0], atol=1e-4)


def test_similarity_of_sinusoids_depends_on_distance_only(names):
    near = np.array(names["cosine_similarities"](names["sinusoids"](40, 64)))
    for distance in (0, 1, 7, 20):
        assert np.ptp(np.diagonal(near, distance)) < 1e-4
    assert near[0, 1] > near[0, 3] > near[0, 8]


@pytest.mark.parametrize(("d", "period"), [(64, 47_117), (768, 61_343)])
def test_the_slowest_period_is_the_one_that_the_errata_name(d, period):
    assert round(2 * np.pi * 10000 ** ((d - 2) / d)) == period


def test_the_embeddings_of_bert_base_have_the_stated_number_of_parameters(names):
    assert 30522 * 768 + 512 * 768 + 2 * 768 + 2 * 768 == 23_837_184
    layer = names["BertEmbeddings"](vocab_size=7, hidden_size=3, max_positions=5)
    layer(ops.ones((1, 2), "int32"), ops.zeros((1, 2), "int32"))
    assert layer.count_params() == (7 + 5 + 2 + 2) * 3


def test_the_tables_of_the_layer_start_small_and_different(names):
    layer = names["BertEmbeddings"](vocab_size=300, hidden_size=16, max_positions=300)
    layer(ops.ones((1, 2), "int32"), ops.zeros((1, 2), "int32"))
    token, position = np.array(layer.token.embeddings), np.array(layer.position.embeddings)
    assert not np.array_equal(token, position)
    assert 0.015 < token.std() < 0.02  # a truncated normal is a little narrower than its 0.02


def test_a_table_that_is_silently_too_short_is_named_and_another_error_than_the_one_asked_for_does_not_count():
    asked = "expected this call to raise ValueError; it "
    silent = verdict_on("learned-positions", "def learned_positions(length, w_p):\n    return w_p[:length]")
    assert (silent.status, silent.points, silent.misconception) == ("partly", 2, "silently-short")
    assert asked + "returned" in str(silent)
    refusal = "    if length > len(w_p):\n        raise KeyError\n"
    other = verdict_on("learned-positions", f"def learned_positions(length, w_p):\n{refusal}    return w_p[:length]")
    assert other.points == 2 and asked + "raised KeyError" in str(other)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ([("keras.layers.Dropout(dropout)", "keras.layers.Dropout(dropout / 2)")], "of the numbers are 0; expected"),
        ([("self.drop(self.norm(x), training=training)", "0.8 * self.drop(self.norm(x), training=training)")], "yours"),
        ([("self.norm(x), training=training", "self.norm(x), training=False")], "0% of the numbers are 0"),
    ],
)
def test_dropout_is_judged_by_its_share_and_by_what_it_leaves(change, said):
    verdict = verdict_on_changed("bert-embeddings", *change)
    assert not verdict.passed and said in str(verdict), str(verdict)


def test_a_seeded_question_is_answered_alike_every_time_and_differently_for_another_seed():
    exercise = catalogue.find("bert-embeddings")
    plan = planner.make_plan(exercise, "seeds", misconceptions=False)
    question = next(question for question in plan["questions"] if question["keywords"].get("training"))
    first, again, other = (
        call_answer.answer([question | {"seed": seed}], cells.namespace(exercise))[0]["value"] for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again) and not np.array_equal(first, other)


def test_the_stand_in_has_the_names_that_later_notebooks_use():
    with mybert_importer.only_stand_ins():
        from mybert.embeddings import BertEmbeddings

        layer = BertEmbeddings(vocab_size=9, hidden_size=4, max_positions=6)
        layer(ops.ones((2, 3), "int32"), ops.zeros((2, 3), "int32"), training=True)
    assert [tuple(table.embeddings.shape) for table in (layer.token, layer.segment, layer.position)] == [
        (9, 4), (2, 4), (6, 4)]  # fmt: skip
    assert layer.norm.epsilon == 1e-12
