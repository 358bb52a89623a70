"""Notebook 11: its worked numbers, the library's ALBERT in the solution's own layers, the recorded runs it reads."""

import re
import statistics

import numpy as np
import pytest
from keras import ops
from notebook_loading import names_of_notebook, recorded_values, text_of  # noqa: F401 (a fixture)

from bertlab.families import family
from bertlab.families.albert import AlbertConfig
from bertlab.models import Backbone
from bertlab.models.outline import outline

NOTEBOOK = "11_objectives"
TEXT = text_of(NOTEBOOK)


def test_the_factorised_table_has_the_stated_numbers():
    assert "30{,}000 \\cdot 768 = 23{,}040{,}000" in TEXT and 30_000 * 768 == 23_040_000
    assert "30{,}000 \\cdot 128 + 128 \\cdot 768 = 3{,}938{,}304" in TEXT and 30_000 * 128 + 128 * 768 == 3_938_304


def test_the_papers_order_gives_the_masks_of_its_figure(names):
    content, query = names["permutation_masks"](np.array([2, 1, 3, 0]))  # 3 → 2 → 4 → 1
    assert query.astype(int).tolist() == [[0, 1, 1, 1], [0, 0, 1, 0], [0, 0, 0, 0], [0, 1, 1, 0]]
    assert (content & ~query).tolist() == np.eye(4, dtype=bool).tolist()


def test_the_exercises_masks_are_transitive_so_that_depth_opens_no_new_way(names):
    for kind in ("both-sided", "left-to-right", "prefix"):
        mask = np.array(names["visible"](kind, ops.ones((1, 6), "int32"), 3))[0].astype(int)
        assert np.array_equal(mask @ mask > 0, mask > 0), kind


def test_albert_shares_numbers_and_computes_what_the_library_computes(names):
    config = AlbertConfig(
        vocab_size=20, embedding_size=4, hidden_size=8, num_layers=3, num_heads=2, intermediate_size=12,
        max_position_embeddings=9, hidden_act="gelu", initializer_range=0.3,
    )  # fmt: skip
    theirs, mine = Backbone(config), names["AlbertEncoder"](20, 4, 8, 3, 2, 12, 9)
    ids, segments, real = (ops.array(row, "int32") for row in ([[3, 9, 1, 0]], [[0, 0, 1, 0]], [[1, 1, 1, 0]]))
    mine(ids, segments, real)
    assert mine.count_params() == sum(int(np.prod(v.shape)) for v in theirs.variables if "pooler" not in v.path)
    embeddings, layer = theirs.embeddings, theirs.encoder.layers_[0]
    for table in ("token", "position", "segment"):
        getattr(mine.embeddings, table).embeddings.assign(getattr(embeddings, table).embeddings)
    mine.embeddings.norm.set_weights(embeddings.norm.get_weights())
    mine.projection.set_weights(embeddings.projection.get_weights())
    for path in ("attention.query", "attention.key", "attention.value", "attention.out", "attention_norm",
                 "feed_forward.inner", "feed_forward.outer", "output_norm"):  # fmt: skip
        ours, others = mine.layer, layer
        for name in path.split("."):
            ours, others = getattr(ours, name), getattr(others, name)
        ours.set_weights(others.get_weights())
    expected = theirs({"input_ids": ids, "token_type_ids": segments, "attention_mask": real})["sequence_output"]
    assert np.allclose(mine(ids, segments, real), expected, atol=1e-5)


def test_roberta_is_larger_than_bert_and_albert_ten_times_smaller():
    """⚠ of the family table: RoBERTa's parameters are not BERT's."""

    def count(name):
        config = family(name).config.named("base")
        return sum(int(np.prod(weight.shape)) for weight in outline(lambda: Backbone(config)).trainable_variables)

    counts = {name: count(name) for name in ("bert", "roberta", "albert", "distilbert")}
    assert counts["bert"] == 109_482_240 and counts["distilbert"] == 66_362_880
    assert counts["roberta"] > 1.1 * counts["bert"] and counts["albert"] < counts["bert"] / 9


def test_the_papers_perplexities_and_accuracies_lie_on_a_line():
    rows = re.findall(r"^    \((\d+), \d+, \d+, ([\d.]+), ([\d.]+), ([\d.]+), ([\d.]+)\),$", TEXT, re.MULTILINE)
    ppl, mnli, mrpc = (np.array([float(row[column]) for row in rows]) for column in (1, 2, 3))
    assert len(rows) == 6
    assert round(np.corrcoef(ppl, mnli)[0, 1], 3) == -0.997
    assert round(np.corrcoef(ppl, mrpc)[0, 1], 3) == -0.978


def _means_and_squared_errors(runs, value):
    """Per objective, in percent. Squared standard errors: of the seeds, and of 1,000 judged rows."""
    found = recorded_values(runs, "objective", value=value)
    found = {name: [100 * score for score in scores] for (name,), scores in found.items()}
    mean = {name: statistics.mean(values) for name, values in found.items()}
    return mean, {
        name: statistics.variance(values) / len(values) + mean[name] * (100 - mean[name]) / 1000
        for name, values in found.items()
    }


def test_the_recorded_comparison_tells_bert_albert_and_nothing_apart_by_no_two_standard_errors():
    """The text says that these three may not be ranked, that XLNet is above and ELECTRA below them."""
    mean, squares = _means_and_squared_errors("objectives", "task_accuracy")

    def apart(one, other):
        return abs(mean[one] - mean[other]) > 2 * (squares[one] + squares[other]) ** 0.5

    alike = ("none", "masked", "order")
    assert not any(apart(one, other) for one in alike for other in alike)
    assert all(mean["replaced"] < mean[one] < mean["permutation"] for one in alike)
    assert all(apart(one, other) for one in ("replaced", "permutation") for other in alike)


def test_no_left_to_right_reader_is_above_its_line_and_both_sided_ones_are():
    """The text says so of the recorded task, and that BERT is told apart neither from the BiLSTM nor from XLNet."""
    runs = recorded_values("small_world_objectives", "objective", value="accuracy")
    assert {len(values) for values in runs.values()} == {3}
    mean, squares = _means_and_squared_errors("small_world_objectives", "accuracy")
    assert abs(mean["left to right"] - 79.3) < 2 and mean["none"] < mean["left to right"] - 10
    assert 'line=("best left-to-right reader", 79.3)' in TEXT
    for other in ("left to right + BiLSTM", "permutation"):
        assert mean[other] > 90
        assert abs(mean["masked"] - mean[other]) < 2 * (squares["masked"] + squares[other]) ** 0.5, other
