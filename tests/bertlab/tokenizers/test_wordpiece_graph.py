"""Special cases of the in-graph form: tf.data, SavedModel, bytes that are not text, a missing TensorFlow Text."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab.common.errors import ConfigError, MissingDependencyError
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

tf = pytest.importorskip("tensorflow")

LETTERS = "abcdeσςß中"
PIECES = [*SPECIAL_TOKENS, *LETTERS, *("##" + letter for letter in LETTERS), *".,[]'“", "ab", "##cd"]
TOKENIZER = WordPieceTokenizer(Vocabulary(PIECES), max_chars_per_word=6)
TEXTS = ["abcd, ab", "", "É “ab” 中a", " ", "[MASK] ab", "aaaaaa aaaaaaa", "éééééé ééééééé", "x", "ΑΣ ab ab ab"]


@pytest.fixture(scope="module")
def graph():
    pytest.importorskip("tensorflow_text")
    return TOKENIZER.graph()


def test_it_runs_inside_a_data_pipeline(graph):
    data = tf.data.Dataset.from_tensor_slices(TEXTS).batch(4).map(graph, num_parallel_calls=2)
    assert [row for batch in data for row in batch.to_list()] == TOKENIZER.encode_batch(TEXTS).to_list()


@pytest.mark.slow
def test_a_saved_model_gives_the_same_ids(graph, tmp_path):
    tf.saved_model.save(graph, str(tmp_path / "saved"))
    loaded = tf.saved_model.load(str(tmp_path / "saved"))
    assert loaded(tf.constant(TEXTS)).to_list() == TOKENIZER.encode_batch(TEXTS).to_list()


def test_an_empty_batch_is_an_empty_batch(graph):
    assert graph(tf.constant([], tf.string)).to_list() == []
    assert graph([""]).to_list() == [[]]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from([b"ab", b" ", b"\xc3\xa9", b"\xc3", b"\xa9", b"\xe4\xb8\xad", b"\xe4\xb8",
                                          b"\xff", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xf0\x9f",
                                          b"\xef\xbb\xbf", b"\x00"])).map(b"".join)))  # fmt: skip
def test_bytes_that_are_not_utf8_are_ignored_as_python_ignores_them(graph, texts):
    assert graph(texts).to_list() == TOKENIZER.encode_batch(text.decode("utf-8", "ignore") for text in texts).to_list()


def test_special_tokens_are_found_on_request():
    pytest.importorskip("tensorflow_text")
    in_graph = TOKENIZER.graph(special_tokens=True)
    texts = [*TEXTS, "[MASK]", "a[MASK][SEP]É[mask] [[CLS]]", "[UNK]é[PAD]"]
    assert in_graph(texts).to_list() == TOKENIZER.encode_batch(texts, special_tokens=True).to_list()


@pytest.mark.parametrize("max_length", [3, 4, 5, 8, 20])
def test_packing_in_the_graph_is_packing_in_numpy(graph, max_length):
    for texts_b in (None, TEXTS[::-1]):
        expected = TOKENIZER.encode_packed(TEXTS, texts_b, max_length)
        packed = graph.encode_packed(TEXTS, texts_b, max_length=max_length)
        assert packed.keys() == expected.keys()
        for name in expected:
            np.testing.assert_array_equal(packed[name], expected[name])
            assert packed[name].dtype == tf.int32


def test_packed_batches_have_a_known_width(graph):
    data = tf.data.Dataset.from_tensors(TEXTS).map(lambda texts: graph.encode_packed(texts, max_length=7))
    assert data.element_spec["input_ids"].shape.as_list() == [None, 7]
    with pytest.raises(ConfigError, match="max_length must be at least 2, for the special tokens, not 1"):
        graph.encode_packed(TEXTS, max_length=1)


def test_without_tensorflow_text_everything_else_works_and_the_message_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_text", None)  # what a failed import leaves behind
    tokenizer = WordPieceTokenizer(Vocabulary(PIECES))
    assert tokenizer.encode_batch(["ab"]).to_list() == [[PIECES.index("ab")]]
    release = ".".join(tf.__version__.split(".")[:2])
    with pytest.raises(MissingDependencyError, match=rf'pip install "tensorflow-text=={release}\.\*"'):
        tokenizer.graph()
