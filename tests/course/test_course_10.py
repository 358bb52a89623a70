"""Notebook 10: its worked numbers, its functions beside the library's, and what its text says of recorded runs."""

import numpy as np
import pytest
from keras import ops
from notebook_loading import names_of_notebook, recorded_values, text_of  # noqa: F401 (a fixture)

from autograde.exercises import catalogue, cells
from bertlab.analysis import diagnostics, heads, readings, senses
from bertlab.training.runs.recorded import recorded_runs

NOTEBOOK = "10_inside_bert"
TEXT = text_of(NOTEBOOK)


def rows_of(kind):
    return [row for row in recorded_runs("inside_bert") if row["kind"] == kind]


def by_layer(name, value="score"):
    """(layers + 1, seeds)"""
    found = recorded_values("inside_bert", "layer", value=value, kind="layer", name=name)
    return np.array([found[layer] for layer in sorted(found)])


# --- worked numbers ---


def test_three_tokens_and_two_words_have_the_written_weights(names):
    attention = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.75, 0.0, 0.25]])
    assert names["word_attention"](attention, [0, 1, 1]).tolist() == [[0.5, 0.5], [0.5, 0.5]]


def test_the_best_offset_of_three_edges_is_the_next_word(names):
    _, offset, found = names["head_against_offset"]([np.eye(4)], [[(0, 1), (2, 1), (2, 3)]])
    assert (offset, found) == (1, pytest.approx(2 / 3))


def test_the_worked_map_has_the_written_pattern(names):
    worked = np.array([[4, 2, 1, 1], [2, 2, 2, 2], [1, 4, 1, 2], [4, 1, 2, 1]]) / 8
    assert names["pattern"](worked, np.array([0, 0, 0, 1]))[:4] == pytest.approx([0.25, 1 / 3, 0.25, 0.34375])
    assert "= .333" in TEXT and "= .344" in TEXT


def test_the_worked_negation_is_right_by_2_and_wrong_by_3(names):
    one, other = np.array([[0.6, 0.1, 0.3]]), np.array([[0.5, 0.2, 0.3]])
    found = names["top_k_and_negation"](one, other, np.array([0]), np.array([1]), 1)
    assert found == (1.0, 1.0, 0.0)


# --- the library computes the same ---


def test_the_librarys_functions_agree_with_the_solutions(names):
    rng = np.random.default_rng(10)
    attention = rng.dirichlet(np.ones(6), size=(2, 3, 6))
    words = [-1, 0, 0, 1, 2, -1]
    assert np.allclose(names["word_attention"](attention, words), readings.word_attention(attention, words))
    separators = np.array([0, 0, 0, 0, 0, 1])
    pattern = heads.attention_pattern(attention, separators)
    parts = (pattern.itself, pattern.previous, pattern.following, pattern.cls, pattern.separator, pattern.entropy)
    assert np.allclose(names["pattern"](attention, separators), np.stack(parts, axis=-1))
    vectors, labels = rng.normal(3, 1, size=(9, 4)), list("abcabcabc")
    assert names["sense_of"](vectors, labels) == [labels[at] for at in senses.nearest_examples(vectors)]
    edges = [[(0, 1), (2, 1), (3, 5)], [(4, 2), (5, 1)]]
    found, offset, baseline = names["head_against_offset"](list(attention[0, :2]), edges)
    guesses = heads.predicted_heads(attention[0, :2])
    assert found == np.mean([guesses[at, word] == head for at, pairs in enumerate(edges) for word, head in pairs])
    assert (offset, baseline) == heads.best_offset(*zip(*(pair for pairs in edges for pair in pairs)))
    chances = [rng.dirichlet(np.ones(7), size=5) for _ in range(2)]
    aff, neg = np.array([0, 1, 2, 3, 4]), np.array([1, 2, 3, 4, 5])
    both = [np.stack([p[range(5), aff], p[range(5), neg]], axis=1) for p in chances]
    expected = diagnostics.top_k_accuracy(chances[0], aff, 2), *diagnostics.polarity_scores(*both)
    assert names["top_k_and_negation"](*chances, aff, neg, 2) == pytest.approx(expected)


def test_the_setups_head_is_that_of_notebook_05(names):
    rng = np.random.default_rng(5)
    kernel, bias, gamma, beta, table, out = (
        rng.normal(size=size).astype("float32") for size in ((4, 4), 4, 4, 4, (6, 4), 6)
    )
    head = cells.namespace(catalogue.find("mlm-head"))["MlmHead"](6)
    x = ops.convert_to_tensor(rng.normal(size=(1, 3, 4)).astype("float32"))
    head(x, ops.convert_to_tensor(table))
    head.dense.set_weights([kernel, bias])
    for variable, value in ((head.norm.gamma, gamma), (head.norm.beta, beta), (head.bias, out)):
        variable.assign(value)
    expected = head(x, ops.convert_to_tensor(table))
    assert np.allclose(names["mlm_head"](x, kernel, bias, gamma, beta, table, out), expected, atol=1e-5)


# --- recorded runs: what the text says of them ---


def test_a_passive_auxiliarys_baseline_is_about_four_of_five_and_not_near_forty():
    (whole,) = (row for row in rows_of("offset") if row["name"] == "aux:pass")
    (measured,) = (row for row in rows_of("relation") if row["name"] == "aux:pass")
    assert whole["offset"] == measured["offset"] == 1 and whole["count"] == 1643
    assert 0.78 < measured["control"] < 0.84 and 0.78 < whole["control"] < 0.84
    assert abs(measured["score"] - measured["control"]) < 0.1


def test_one_head_finds_nouns_beyond_any_offset_and_many_heads_gain_nothing():
    rows = {row["name"]: row for row in rows_of("relation")}
    for name in ("case", "det"):
        assert rows[name]["head"] == "3-1" and rows[name]["score"] > rows[name]["control"] + 0.2
        assert rows[name]["score_elsewhere"] > 0.75 and rows[name]["count_elsewhere"] > 1000
    assert sum(row["score"] < row["control"] + 0.05 for row in rows.values()) > 5


def test_the_table_of_layers_is_as_the_text_reads_it():
    assert by_layer("sense").shape == (5, 3)
    tags, tags_control = by_layer("part of speech").mean(1), by_layer("part of speech", "control").mean(1)
    assert tags[0] > 0.8 and tags[1] > tags[0] + 0.03 and tags[4] < tags[3] - 0.03
    assert np.all(np.diff((tags - tags_control)[:4]) > 0)
    nouns, by_heart = by_layer("relation of a noun").mean(1), by_layer("relation of a noun", "control").mean(1)
    assert by_heart[0] > nouns[0] + 0.1 and nouns[2] > 0.98 and by_heart[4] < by_heart[2] - 0.03
    sense = by_layer("sense").mean(1)
    assert abs(sense[0] - 0.5) < 0.1 and sense[1:].min() > 0.9
    agreement = by_layer("agreement over a noun")
    assert agreement[3].max() < 0.5 and agreement[4].min() > 0.6


def test_negation_turns_hardly_any_of_ettingers_items():
    (row,) = rows_of("negation")
    assert row["score"] > 0.8 and row["negated"] < 0.2
    assert row["count"] == 14
