"""ALBERT: factorised embeddings, shared layers, and the order of two segments. Parity: tests/peers/test_parity.py."""

import json

import keras
import numpy as np
import pytest
from bertlab_command import run
from checkpoint_files import tokenizer

from bertlab import checkpoints, families, models
from bertlab.common.errors import ConfigError, DataError
from bertlab.data.documents import Document
from bertlab.data.pretraining.examples import make_examples, tokenize_documents
from bertlab.data.pretraining.segments import make_pairs
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.layers import FactorisedEmbeddings, SharedEncoder
from bertlab.training.objectives import MaskedLM, SentenceOrder, objectives_for
from bertlab.training.presets import PretrainingSettings
from bertlab.training.pretraining import PretrainingRun

SMALL = dict(vocab_size=61, embedding_size=8, hidden_size=16, num_layers=4, num_heads=2, intermediate_size=24,
             max_position_embeddings=32)  # fmt: skip
WORDS = "abcdefghij"


def documents(count=30, sentences=9):
    """Documents in which the n-th sentence is the n-th letter, three times or more."""
    paragraph = tuple(f"{word} {word} {word}" for word in WORDS[:sentences])
    return [Document(str(number), (paragraph,)) for number in range(count)]


def albert(**changes):
    return families.family("albert").config(**(SMALL | changes))


# --- layers ---


def test_the_projection_comes_after_the_norm():
    layer = FactorisedEmbeddings(11, 4, 8, max_positions=6)
    ids = np.array([[3, 1, 10]])
    layer.build()
    narrow = super(FactorisedEmbeddings, layer).call(ids)
    np.testing.assert_allclose(layer(ids), keras.ops.matmul(narrow, layer.projection.kernel), rtol=1e-5, atol=1e-6)
    assert layer.token.embeddings.shape == (11, 4) and layer.norm.gamma.shape == (4,)


@pytest.mark.parametrize(("steps", "groups", "inner", "expected"), [(4, 1, 1, [0, 0, 0, 0]), (4, 2, 1, [0, 0, 1, 1]),
                                                                    (5, 2, 1, [0, 0, 0, 1, 1]), (2, 2, 2, [0, 1, 2, 3]),
                                                                    (3, 1, 2, [0, 1, 0, 1, 0, 1])])  # fmt: skip
def test_steps_go_through_their_group(steps, groups, inner, expected):
    encoder = SharedEncoder(steps, 2, 24, num_groups=groups, layers_per_group=inner)
    assert [encoder.layers_.index(layer) for layer in encoder.passed()] == expected
    encoder.build((None, None, 16))
    _, states, weights = encoder(np.zeros((1, 3, 16), "float32"), return_all=True)
    assert len(states) == len(expected) + 1 and len(weights) == len(expected)


def test_shared_layers_cost_memory_once_and_arithmetic_every_time():
    shared, own = models.Backbone(albert()), models.Backbone(albert(num_groups=4))
    per_layer = shared.encoder.layers_[0].count_params()
    assert own.count_params() - shared.count_params() == 3 * per_layer
    assert shared.encoder.flops(10, 10) == own.encoder.flops(10, 10)


def test_predicted_places_alone_are_the_same_as_in_the_whole_row():
    model = models.PreTrainingModel(albert())
    ids, places = np.array([[2, 17, 40, 9, 3]]), np.array([[1, 3]])
    whole = np.asarray(model({"input_ids": ids})["masked_lm_logits"])[:, [1, 3]]
    some = model({"input_ids": ids, "masked_lm_positions": places})["masked_lm_logits"]
    np.testing.assert_allclose(some, whole, rtol=1e-4, atol=1e-5)


def test_more_groups_than_layers_are_refused():
    with pytest.raises(ConfigError, match="num_groups 5 must be at most num_layers, 4"):
        albert(num_groups=5)


# --- the order of segments ---


def pairs_of(**changes):
    settings = ExampleSettings.preset("sentence-order", sequence_length=20, **changes)
    tokens = tokenize_documents(documents(), tokenizer())
    return tokens, make_pairs(tokens, settings, np.random.default_rng(1))


def test_segments_are_consecutive_and_half_of_them_swapped():
    tokens, pairs = pairs_of()
    assert abs(pairs.label.mean() - 0.5) <= 0.5 / len(pairs.label) + 1e-9
    columns = (pairs.label, pairs.a_start, pairs.a_length, pairs.b_start, pairs.b_length)
    for label, a, a_length, b, b_length in zip(*columns):
        first, second = (a, b) if label == 0 else (b, a)
        assert first < second
        document_a, document_b = np.searchsorted(tokens.document_splits, np.searchsorted(
            tokens.sentence_splits, [first, second], side="right") - 1, side="right")  # fmt: skip
        assert document_a == document_b
        assert 0 < a_length and 0 < b_length and a_length + b_length <= 17


def test_no_text_is_lost_between_pairs():
    tokens, pairs = pairs_of(short_sequence_probability=0.0)
    covered = set()
    for a, a_length, b, b_length in zip(pairs.a_start, pairs.a_length, pairs.b_start, pairs.b_length):
        covered |= {*range(a, a + a_length), *range(b, b + b_length)}
    assert len(covered) > 0.9 * len(tokens.values)  # but for what does not fit into a row


def test_one_document_is_enough_for_the_order_but_not_for_random_pairs():
    one = documents(1)
    assert len(make_examples(one, tokenizer(), ExampleSettings(sentence_order=True, sequence_length=20))["input_ids"])
    with pytest.raises(DataError, match="at least two documents"):
        make_examples(one, tokenizer(), ExampleSettings(sequence_length=20))


def test_the_order_needs_pairs():
    with pytest.raises(ConfigError, match="sentence_order needs pairs"):
        ExampleSettings(sentence_order=True, next_sentence=False)


def test_the_objective_is_chosen_by_the_rows():
    kinds = [type(one) for one in objectives_for(albert(), pairs=True, sentence_order=True)]
    assert kinds == [MaskedLM, SentenceOrder]


# --- the whole way ---


@pytest.fixture
def folders(tmp_path):
    tokenizer().vocabulary.save(tmp_path / "vocab.txt")
    lines = "\n\n".join("\n".join(document.paragraphs[0]) for document in documents())
    (tmp_path / "text.txt").write_text(lines)
    for name, preset in (("order", "sentence-order"), ("next", "published")):
        run("data", "make", tmp_path / "text.txt", "--vocab", tmp_path / "vocab.txt", "--out", tmp_path / name,
            "--preset", preset, "--sequence-length", "20", "--duplicate-factor", "1")  # fmt: skip
    albert().save(tmp_path / "config.json")
    return tmp_path


@pytest.mark.slow
def test_a_run_is_trained_on_the_order_and_evaluated_on_it(folders):
    shown = run("data", "show", folders / "order", "--count", "8")
    assert "swapped" in shown and "IsNext" not in shown
    run("pretrain", folders / "config.json", "--data", folders / "order", "--out", folders / "run", "--preset", "small",
        "--steps", "4", "--interval", "2", "--batch-size", "4", "--no-xla")  # fmt: skip
    assert "sentence_order_accuracy" in (folders / "run" / "metrics.csv").read_text().split("\n")[0]
    model = checkpoints.load(folders / "run" / "checkpoint")
    assert model.config.model_type == "albert" and len(model.backbone.encoder.layers_) == 1
    assert checkpoints.load_tokenizer(folders / "run" / "checkpoint").vocabulary == tokenizer().vocabulary
    measured = run("evaluate", folders / "run" / "checkpoint", "--data", folders / "order", "--json")
    assert "sentence_order_accuracy" in measured and "next_sentence" not in measured


def test_a_folder_from_before_the_setting_existed_is_still_complete(folders):
    path = folders / "next" / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest["settings"]["sentence_order"]
    path.write_text(json.dumps(manifest))
    run("data", "make", folders / "text.txt", "--vocab", folders / "vocab.txt", "--out", folders / "next",
        "--sequence-length", "20", "--duplicate-factor", "1")  # fmt: skip
    assert json.loads(path.read_text()) == manifest
    assert run("data", "check", folders / "next").strip().endswith("all whole.")


def test_both_kinds_of_pairs_in_one_run_are_refused(folders):
    settings = PretrainingSettings(steps=4, batch_size=4)
    for data, validation in (([folders / "next", folders / "order"], None), (folders / "next", folders / "order")):
        with pytest.raises(DataError, match="order: expected pairs with a next sentence, as in .*next"):
            PretrainingRun(folders / "config.json", data, folders / "run", settings, validation)
