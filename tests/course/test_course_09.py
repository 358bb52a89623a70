"""Notebook 09: its worked numbers, the library's layers and mix, the leak of a BiLSTM, the recorded runs it reads."""

import re
import statistics

import numpy as np
import pytest
from keras import layers, ops
from notebook_loading import names_of_notebook, recorded_values, text_of  # noqa: F401 (a fixture)

from autograde.boundary import mybert_importer
from autograde.student import kept_vectors
from autograde.student.starting_points import published
from bertlab.analysis.vectors import LayerChoice
from bertlab.layers.scalar_mix import ScalarMix
from bertlab.training.runs.recorded import recorded_runs

NOTEBOOK = "09_features"
TEXT = text_of(NOTEBOOK)
RECORDS = recorded_runs("layer_features")
SCORES = recorded_values("layer_features", "task", "layers", "head", value="score")


def test_the_ways_to_take_layers_are_the_librarys(names):
    rng = np.random.default_rng(0)
    states = [rng.normal(size=(2, 3, 4)).astype("float32") for _ in range(6)]
    for how in ("embeddings", "second-to-last", "last", "last4-sum", "last4-concat"):
        found = names["take_layers"]([ops.convert_to_tensor(state) for state in states], how)
        assert np.allclose(found, LayerChoice.of(how).apply(states), atol=1e-5), how


def test_the_mix_is_the_librarys(names):
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype("float32")
    mine, theirs = names["ScalarMix"](4), ScalarMix(4)
    for mix, w in ((mine, mine.w), (theirs, theirs.weights_of_layers)):
        w.assign([0.3, -1, 2, 0])
        mix.gamma.assign(1.7)
    assert np.allclose(mine(x), theirs(x), atol=1e-5)


def test_the_sentence_of_the_text_in_both_directions(names):
    """let's 0, stick 1, to 2, start 3, end 4."""
    arrays = names["both_ways"](np.arange(3)[None], np.ones((1, 3), "int32"), 3, 4)
    assert [array[0].tolist() for array in arrays] == [[3, 0, 1, 2], [0, 1, 2, 4], [4, 2, 1, 0], [2, 1, 0, 3]]


def test_a_model_that_knows_nothing_pays_twice_the_logarithm_of_the_vocabulary(names):
    zeros, targets = ops.zeros((2, 3, 4)), ops.ones((2, 3), "int32")
    loss = names["bilm_loss"](zeros, zeros, ops.zeros((4, 7)), targets, targets, targets)
    assert np.isclose(loss, 2 * np.log(7))


def test_the_cosines_of_the_text(names):
    x, mean = np.array([[11, 1], [9, 1], [12, 2]], "float32"), np.array([10, 0], "float32")
    plain = np.array(names["centred_cosine"](ops.array(x), ops.zeros(2)))
    assert plain.min() > 0.99
    assert np.allclose(names["centred_cosine"](ops.array(x), ops.array(mean))[0], [1, 0, 1], atol=1e-6)
    two = names["centred_cosine"](ops.array(x[:2]), ops.array(x[:2].mean(axis=0)))
    assert np.allclose(two, [[1, -1], [-1, 1]], atol=1e-6)


def test_the_next_word_reaches_the_forward_half_of_a_second_bidirectional_layer_and_of_no_first_one():
    x = np.random.default_rng(0).normal(size=(1, 4, 3)).astype("float32")
    other = x.copy()
    other[0, 2] += 1  # the word after position 1
    first = layers.Bidirectional(layers.LSTM(5, return_sequences=True))
    second = layers.Bidirectional(layers.LSTM(5, return_sequences=True))
    one, changed = first(x)[0, 1, :5], first(other)[0, 1, :5]
    assert np.allclose(one, changed)
    assert not np.allclose(second(first(x))[0, 1, :5], second(first(other))[0, 1, :5])


def test_the_paper_s_table_is_in_the_notebook():
    rows = dict(re.findall(r'^    "([\w-]+)": ([\d.]+),$', TEXT, re.MULTILINE))
    assert rows == {
        "embeddings": "91.0", "second-to-last": "95.6", "last": "94.9", "last4-mix": "95.9", "last4-concat": "96.1",
        "all-mix": "95.5", "fine-tuned": "96.4",
    }  # fmt: skip


def test_every_way_has_five_recorded_seeds_and_the_embeddings_are_far_below():
    ways = {layers: scores for (task, layers, head), scores in SCORES.items() if (task, head) == ("names", "bilstm")}
    assert len(ways) == 7
    assert all(len(scores) == 5 for scores in (*ways.values(), SCORES["names", "fine-tuned", "linear"]))
    lowest = statistics.mean(ways.pop("embeddings"))
    assert all(min(scores) > lowest + 0.03 for scores in ways.values())


@pytest.mark.parametrize(("task", "layer"), [("letter", 0), ("relations", 2), ("names", 3), ("sense", 4)])
def test_each_task_takes_most_from_another_layer_in_every_seed(task, layer):
    """The text: letters at the bottom, the part in the sentence in the middle, senses at the top."""
    shares = np.array([
        [row[f"share_{number}"] for number in range(5)]
        for row in RECORDS
        if (row["task"], row["layers"], row["head"]) == (task, "all-mix", "linear")
    ])  # fmt: skip
    assert len(shares) == 5 and (shares.argmax(axis=1) == layer).all()


def test_words_of_a_task_find_their_tokens():
    with mybert_importer.only_stand_ins():
        start = published("bertlab-mini")
        words = kept_vectors.tagged_words([(("Zyzzyva", "goes", "."), [1, 0, 2])], start)
    tokens = [start.pieces[number] for number in words.rows["token_ids"][0]]
    places = words.first[0, :3]
    assert [tokens[place] for place in places[1:]] == ["goes", "."] and places[0] == 1 and places[1] > 2
    assert words.tags[0, :3].tolist() == [1, 0, 2] and (words.tags[0, 3:] == kept_vectors.IGNORED).all()
    state = np.arange(words.rows["token_ids"].size, dtype="float32").reshape(1, -1, 1)
    assert words.vectors_of(state)[0, :4, 0].tolist() == [*places, 0]


def test_an_unknown_task_of_words_is_refused():
    with pytest.raises(ValueError, match="expected a task of words, letter, relations, names, sense; got 'nothing'"):
        kept_vectors.word_task("nothing")
