"""`bertlab search`: the nearest vectors of a file, compared with a search over the whole array at once."""

import json
import sys

import keras
import numpy as np
import pytest
from bertlab_command import run
from finetuned_models import CONFIG, TOKENIZER
from refusals import refused

from bertlab import checkpoints
from bertlab.analysis.vector_files import VectorFile, nearest, unit
from bertlab.common.errors import DataError, MissingDependencyError
from bertlab.models import BertEncoder

LINES = ["good film .", "the film was bad", "paris is in france", "where is paris", "it was good", "a film in france"]


def cosines_at_once(vectors, queries):
    """All cosines in float64: (Q, N)."""
    vectors, queries = vectors.astype("float64"), queries.astype("float64")
    lengths = np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(vectors, axis=1)
    return queries @ vectors.T / lengths


def blocks_of(vectors, rows):
    return (vectors[start : start + rows] for start in range(0, len(vectors), rows))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model, lines, and their vectors in both formats."""
    folder = tmp_path_factory.mktemp("search")
    keras.utils.set_random_seed(2)
    checkpoints.save(BertEncoder(CONFIG), folder / "model", TOKENIZER)
    (folder / "lines.txt").write_text("\n".join(LINES) + "\n", encoding="utf-8")
    for name, options in (("v.npy", ()), ("v.npz", ("--pooling", "max", "--layer", "last2-concat"))):
        run("encode", folder / "lines.txt", "--model", folder / "model", "--out", folder / name, *options)
    return folder


@pytest.mark.parametrize("engine", ["numpy", "faiss"])
@pytest.mark.parametrize("rows", [7, 100, 1000])
def test_the_rows_found_block_by_block_are_those_with_the_largest_cosines_of_all(engine, rows):
    if engine == "faiss":
        pytest.importorskip("faiss", reason="the extra faiss is not installed")
    rng = np.random.default_rng(1)
    vectors, queries = rng.normal(size=(330, 12)).astype("float32"), rng.normal(size=(4, 12)).astype("float32")
    expected = cosines_at_once(vectors, queries)
    found = nearest(blocks_of(vectors, rows), queries * 5, 9, engine)
    assert [[one.row for one in each] for each in found] == np.argsort(-expected, axis=1)[:, :9].tolist()
    for each, own in zip(found, expected):
        np.testing.assert_allclose([one.cosine for one in each], [own[one.row] for one in each], atol=1e-6)


@pytest.mark.parametrize("rows", [3, 50])
def test_of_equal_vectors_the_earlier_are_found_also_across_blocks(rows):
    vectors = np.tile(np.eye(2, dtype="float32"), (20, 1))
    (found,) = nearest(blocks_of(vectors, rows), vectors[:1], 5, "numpy")
    assert [one.row for one in found] == [0, 2, 4, 6, 8]


def test_fewer_rows_than_asked_for_are_all_found_and_zeros_are_far_from_everything():
    vectors = np.array([[0, 0], [1, 0], [-1, 0]], "float32")
    (found,) = nearest([vectors], np.array([[2.0, 0]]), 10, "numpy")
    assert [tuple(one) for one in found] == [(1, 1.0), (0, 0.0), (2, -1.0)]
    assert not unit(np.zeros((1, 3))).any()


def test_what_cannot_be_searched_is_refused():
    vectors = np.eye(3, dtype="float32")
    refused("queries of 3 dimensions", nearest, [vectors], np.ones((1, 2)))
    refused("unknown engine 'annoy'", nearest, [vectors], np.ones((1, 3)), engine="annoy")
    refused("at least 1, got 0", nearest, [vectors], np.ones((1, 3)), 0)


def test_without_faiss_the_message_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(MissingDependencyError, match=r"pip install \"bertlab\[faiss\]\""):
        nearest([np.eye(3, dtype="float32")], np.ones((1, 3)), engine="faiss")


@pytest.mark.parametrize("name", ["v.npy", "v.npz"])
def test_each_line_finds_itself_first_with_the_model_and_settings_of_the_description(folder, name):
    for number, line in enumerate(LINES, 1):
        shown = run("search", folder / name, line, "--top", 2, "--texts", folder / "lines.txt", "--json")
        found = json.loads(shown)["found"]
        assert found[0]["line"] == number and found[0]["text"] == line and found[0]["cosine"] == pytest.approx(1)
        assert len(found) == 2 and found[1]["cosine"] < 0.9999


def test_several_queries_are_printed_one_after_the_other(folder):
    shown = run("search", folder / "v.npy", LINES[0], LINES[3], "--top", 1)
    assert shown == f"{LINES[0]}\n 1.0000  line 1\n{LINES[3]}\n 1.0000  line 4\n"


def test_the_file_is_read_in_blocks_that_together_are_the_array(folder):
    for name, size in (("v.npy", 16), ("v.npz", 32)):
        file, loaded = VectorFile(folder / name), np.load(folder / name)
        array = loaded if name == "v.npy" else loaded["vectors"]
        parts = list(file.blocks(4))
        assert file.shape == (6, size) and [len(part) for part in parts] == [4, 2]
        np.testing.assert_array_equal(np.concatenate(parts), array)


def test_vectors_without_their_description_or_with_lost_rows_are_refused(folder, tmp_path):
    content, description = (folder / "v.npy").read_bytes(), (folder / "v.npy.json").read_text()
    (tmp_path / "v.npy").write_bytes(content)
    refused("v.npy.json: expected the description", VectorFile, tmp_path / "v.npy")
    (tmp_path / "v.npy.json").write_text(description)
    (tmp_path / "v.npy").write_bytes(content[:-8])
    refused("ends within its 6 rows", list, VectorFile(tmp_path / "v.npy").blocks())
    np.save(tmp_path / "v.npy", np.ones((2, 3), "float32"))
    refused("has 2 rows, its description 6", VectorFile, tmp_path / "v.npy")
    (tmp_path / "v.npy").write_bytes(b"no array")
    refused("expected an array of vectors", VectorFile, tmp_path / "v.npy")
    refused("the file does not exist", VectorFile, tmp_path / "other.npy")


def test_a_vector_for_each_token_cannot_be_searched(folder):
    run("encode", folder / "lines.txt", "--model", folder / "model", "--out", folder / "t.npz", "--pooling", "none")
    refused("has a vector for each token", VectorFile, folder / "t.npz")


def test_a_model_that_was_trained_since_and_other_texts_are_refused(folder, tmp_path):
    changed = checkpoints.load(folder / "model", "encoder")
    changed.embeddings.token.embeddings.assign(changed.embeddings.token.embeddings * 2)
    checkpoints.save(changed, tmp_path / "changed", TOKENIZER)
    file = VectorFile(folder / "v.npy")
    with pytest.raises(DataError, match="is not the one that made v.npy, or was trained since"):
        run("search", folder / "v.npy", "good", "--model", tmp_path / "changed")
    refused("not the 6 texts of v.npy", file.texts, iter(LINES[:5]), {1})
    assert file.texts(iter(LINES), {1, 4}) == {1: LINES[1], 4: LINES[4]}
