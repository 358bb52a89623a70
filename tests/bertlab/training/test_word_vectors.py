"""Files of word vectors: written and read, by hand and damaged; and baselines that begin with them."""

import tracemalloc

import keras
import numpy as np
import pytest
from finetuning_case import task_of
from refusals import refused

from bertlab.common.errors import ConfigError
from bertlab.predict import Predictor
from bertlab.training.baselines.settings import BaselineSettings
from bertlab.training.baselines.training import BaselineExperiment
from bertlab.training.baselines.word_vectors import WordVectors, read_word_vectors, write_word_vectors
from bertlab.training.finetuning import train_baseline
from bertlab.training.finetuning.settings import Recipe

SIZES = BaselineSettings(units=8, head_dropout=0.0, min_count=1)
RECIPE = Recipe(learning_rate=5e-2, batch_size=8, epochs=2, max_length=16)


def written(folder, content):
    path = folder / "vectors.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# === Files ===


def test_a_file_gives_the_same_numbers_again(tmp_path):
    vectors = np.random.default_rng(1).normal(size=(50, 7)).astype("float32") * 10.0 ** np.arange(-3, 4)
    words = [f"wörd{number}" for number in range(49)] + ["日本"]
    path = tmp_path / "vectors.txt"
    write_word_vectors(path, WordVectors(words, vectors.astype("float32")))
    assert path.read_text(encoding="utf-8").splitlines()[0] == "50 7"
    for read in (read_word_vectors(path), read_word_vectors(tmp_path)):
        assert read.words == words
        np.testing.assert_array_equal(read.vectors, vectors.astype("float32"))
    some = read_word_vectors(path, only=["日本", "wörd3", "not there"])
    assert some.words == ["wörd3", "日本"] and some.vectors.shape == (2, 7)
    refused("without spaces", write_word_vectors, path, WordVectors(["two words"], vectors[:1]))


@pytest.mark.parametrize(
    "content",
    [
        "2 3\nriver 1 -2.5 3e-1\nbank 0 1 2\n",
        b"\xef\xbb\xbf2 3\r\nriver 1 -2.5 0.3 \r\nbank 0 1 2 \r\n",  # a byte order mark, Windows' line ends
        "river 1 -2.5 0.3\nbank 0 1 2\n",  # GloVe's format
        "3 3\nriver 1 -2.5 0.3\nbank 0 1 2\nriver 9 9 9",  # the first of two vectors; no line end
    ],
)
def test_a_file_that_was_written_by_hand_or_by_another_program_is_read(tmp_path, content):
    read = read_word_vectors(written(tmp_path, content))
    assert read.words == ["river", "bank"]
    np.testing.assert_allclose(read.vectors, [[1, -2.5, 0.3], [0, 1, 2]], rtol=1e-6)


def test_a_word_may_contain_a_space_as_some_of_gloves_do(tmp_path):
    assert read_word_vectors(written(tmp_path, "c 1 2\na . b 3 4\n")).words == ["c", "a . b"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("2 3\nriver 1 2 3\nbank 0 1\n", "line 3: expected a word and 3 numbers, got 3 fields"),
        ("2 3\nriver 1 2 3\nbank 0 one 2\n", "line 3: expected finite numbers behind the word, got 'one'"),
        ("2 3\nriver 1 nan 3\nbank 0 1 2\n", "line 2: expected finite numbers behind the word, got 'nan'"),
        ("2 3\nriver 1 2 3\nbank 0 1e300 2\n", "line 3: expected finite numbers behind the word, got '1e300'"),
        ("3 3\nriver 1 2 3\nbank 0 1 2\n", "expected 3 words, as line 1 says, got 2; the file is not complete"),
        (b"2 3\nriver 1 2 3\nb\xe4nk 0 1 2\n", "line 3: not UTF-8"),
        ("some text\n", "line 1: expected the number of words and of dimensions"),
        ("", "line 1: expected the number of words and of dimensions"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_line(tmp_path, content, told):
    refused(told, read_word_vectors, written(tmp_path, content))


def test_reading_needs_little_more_memory_than_the_vectors(tmp_path):
    line = "".join(f" {number / 7:.6f}" for number in range(300))
    path = written(tmp_path, "400 300\n" + "".join(f"word{number}{line}\n" for number in range(400)))
    tracemalloc.start()
    read = read_word_vectors(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read.vectors.nbytes == 480_000 and peak < 2 * read.vectors.nbytes
    read.vectors[0] = 0  # can be changed, as any array


def test_a_file_that_does_not_exist_is_refused(tmp_path):
    refused("nothing.txt: the file does not exist", read_word_vectors, tmp_path / "nothing.txt")


def test_the_nearest_words_have_the_largest_cosines():
    vectors = np.random.default_rng(1).normal(size=(20, 4)).astype("float32")
    known = WordVectors([str(number) for number in range(20)], vectors)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = [number for number in np.argsort(-(unit @ unit[7])) if number != 7][:5]
    assert [int(word) for word, _ in known.nearest("7", top=5)] == expected
    assert len(known.nearest("7", top=99)) == 19


# === Baselines that begin with them ===


def trained(kind, out, recipe=RECIPE, settings=SIZES, **options):
    return train_baseline(kind, task_of("sentence"), out, recipe, settings, **options)


@pytest.fixture
def vectors(tmp_path):
    """Vectors of two words of the task, and of one that is not in it."""
    rows = np.array([[2, -2, 2], [-2, 2, -2], [9, 9, 9]], "float32")
    write_word_vectors(tmp_path / "given.txt", WordVectors(["good", "bad", "zebra"], rows))
    return tmp_path / "given.txt"


def first_table(vectors, freeze=False, seed=1):
    """The words' vectors of a fresh model, the vocabulary, and the experiment."""
    arguments = ("lstm", SIZES, None, task_of("sentence"), vectors.parent / "run", RECIPE, {}, print)
    experiment = BaselineExperiment(*arguments, word_vectors=vectors, freeze_words=freeze)
    keras.utils.set_random_seed(seed)
    model = experiment._new_model("float32")
    return np.array(model.words.embeddings), list(experiment.tokenizer.vocabulary.pieces), model


def test_a_baseline_begins_with_the_vectors_of_its_words_and_draws_the_others(vectors):
    table, pieces, model = first_table(vectors)
    np.testing.assert_array_equal(table[[pieces.index("good"), pieces.index("bad")]], [[2, -2, 2], [-2, 2, -2]])
    others = np.delete(table, [pieces.index("good"), pieces.index("bad")], axis=0)
    assert table.shape[1] == 3 and not np.isin(others, 9).any()
    assert np.std(others) == pytest.approx(2, rel=0.2)  # as widely spread as the given ones
    assert model.words.trainable
    assert not np.array_equal(first_table(vectors, seed=2)[0], table)


@pytest.mark.slow
def test_frozen_words_stay_as_they_are_and_the_others_move(vectors, tmp_path):
    tables = {}
    for name, freeze in (("frozen", True), ("moved", False)):
        said = []
        result = trained("cbow", tmp_path / name, word_vectors=vectors, freeze_words=freeze, say=said.append)
        assert any("word vectors: 2 of" in line and "given.txt" in line for line in said), said
        predictor = Predictor.load(tmp_path / name)
        row = list(predictor.tokenizer.vocabulary.pieces).index("good")
        tables[name] = np.array(predictor.model.words.embeddings)[row].tolist()
        assert result.parameters == (2 * 3 + 2 if freeze else 2 * 3 + 2 + 3 * len(predictor.tokenizer.vocabulary))
    assert tables["frozen"] == [2, -2, 2] and tables["moved"] != [2, -2, 2]


def test_other_vectors_are_another_training(vectors, tmp_path):
    trained("cbow", tmp_path / "out", word_vectors=vectors)
    with pytest.raises(ConfigError, match="freeze_words was False, is True"):
        trained("cbow", tmp_path / "out", word_vectors=vectors, freeze_words=True)
    write_word_vectors(vectors, WordVectors(["good"], np.ones((1, 3), "float32")))
    refused("word_vectors was", trained, "cbow", tmp_path / "out", word_vectors=vectors, error=ConfigError)


def test_vectors_that_have_no_effect_are_refused(vectors, tmp_path):
    with pytest.raises(ConfigError, match="got tfidf, which counts words"):
        trained("tfidf", tmp_path / "out", word_vectors=vectors)
    refused("give them by word_vectors", trained, "lstm", tmp_path / "out", freeze_words=True, error=ConfigError)
    write_word_vectors(vectors, WordVectors(["zebra"], np.ones((1, 3), "float32")))
    refused("no vector for any of the", trained, "lstm", tmp_path / "out", word_vectors=vectors)
    assert not (tmp_path / "out").exists()
