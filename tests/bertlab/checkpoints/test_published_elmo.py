"""Reading the published files of ELMo, options.json and weights.hdf5, and what is refused.

That the vectors are the published ones: tests/peers/test_published_elmo_peers.py.
"""

import numpy as np
import pytest
from bertlab_command import run
from published_language_model import OPTIONS, arrays, write

from bertlab import checkpoints
from bertlab.common.errors import CheckpointError, VocabularyError
from bertlab.tokenizers.whole_words import WordList, WordTokenizer
from bertlab.tokenizers.wordpiece.base import Tokenizer

WORDS = ["<S>", "</S>", "<UNK>", "the", "river", "Bank"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write(tmp_path_factory.mktemp("published") / "model", WORDS)


# === What is read ===


def test_the_forget_gates_bias_has_what_the_program_added_and_the_gates_are_in_our_order(folder):
    model, stored = checkpoints.load(folder), arrays()
    cell = "RNN_1/RNN/MultiRNNCell/Cell1/LSTMCell"
    lstm = model.encoder.layers_[1].backward_lstm
    i, j, f, o = np.split(stored[f"{cell}/B"], 4)
    np.testing.assert_array_equal(np.asarray(lstm.bias), np.concatenate([i, f + 1, j, o]))
    assert lstm.cell.cell_clip == 0.3 and lstm.cell.projection_clip == 0.1
    i, j, f, o = np.split(stored[f"{cell}/W_0"], 4, axis=1)
    both = np.concatenate([i, f, j, o], axis=1)
    np.testing.assert_array_equal(np.asarray(lstm.kernel), both[:4])
    np.testing.assert_array_equal(np.asarray(lstm.cell.recurrent_kernel), both[4:])
    assert model.config.vocab_size == 8 and model.config.hidden_dropout == 0.1


def test_it_is_converted_and_saved_with_its_words(folder, tmp_path):
    assert "with its vocabulary" in run("convert", folder, tmp_path / "own", "--to", "bertlab")
    own, published = (checkpoints.load(path) for path in (tmp_path / "own", folder))
    for one, other in zip(own.weights, published.weights, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
    tokenizer = checkpoints.load_tokenizer(tmp_path / "own")
    assert tokenizer.vocabulary == checkpoints.load_tokenizer(folder).vocabulary
    other = tmp_path / "other"
    checkpoints.save(own, other, tokenizer, format="bertlab")
    (other / "words.txt").write_text("\n".join(reversed(tokenizer.vocabulary.pieces)) + "\n", encoding="utf-8")
    with pytest.raises(CheckpointError, match="is not the vocabulary that bertlab.safetensors was saved with"):
        checkpoints.load(other)


@pytest.mark.slow
def test_commands_make_the_list_of_words_and_the_vectors(folder, tmp_path):
    without = write(tmp_path / "without")
    (tmp_path / "texts.txt").write_text("the river\nthe Bank\n\nthe river river .\n", encoding="utf-8")
    run("vocab", "words", tmp_path / "texts.txt", "--out", without / "words.txt", "--most", "3")
    run("encode", tmp_path / "texts.txt", "--model", without, "--out", tmp_path / "vectors.npy", "--layer", "1,2")
    assert checkpoints.load_tokenizer(without).vocabulary.pieces[5:] == ("the", "river", "Bank")
    vectors = np.load(tmp_path / "vectors.npy")
    assert vectors.shape == (4, 8) and np.isfinite(vectors).all() and vectors[2].any()  # also of the empty line


# === The tokenizer ===


def test_a_text_is_cut_at_its_spaces_and_nowhere_else():
    tokenizer = WordTokenizer(WordList(WORDS))
    assert isinstance(tokenizer, Tokenizer)
    text = " the  river's\tBank the"
    assert tokenizer.tokenize(text) == ["the", "<UNK>", "Bank", "the"]
    encoding = tokenizer.encode_with_offsets(text)
    assert [text[start:end] for start, end in encoding.offsets] == ["the", "river's", "Bank", "the"]
    assert encoding.word_ids.tolist() == [0, 1, 2, 3] and encoding.ids.tolist() == tokenizer.encode(text)
    assert tokenizer.decode(tokenizer.pack(tokenizer.encode(text))["input_ids"]) == "the <UNK> Bank the"
    assert tokenizer.encode("") == [] and tokenizer.encode_with_offsets("").offsets.shape == (0, 2)


def test_a_special_token_in_a_text_is_a_word_unless_it_is_asked_for():
    tokenizer = WordTokenizer(WordList(WORDS))
    assert tokenizer.encode("<S> [MASK] <MASK>") == [1, 1, 1]
    assert tokenizer.encode("<S> [MASK] <MASK>", special_tokens=True) == [2, 4, 4]


def test_a_byte_order_mark_is_not_part_of_the_first_word(tmp_path):
    (tmp_path / "words.txt").write_bytes(b"\xef\xbb\xbfthe\nriver\n")
    assert WordTokenizer.load(tmp_path).tokenize("the river") == ["the", "river"]


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"the\nthe\n", "words.txt: expected each word once, got 'the' twice"),
     (b"a word\n", "words.txt: expected words without spaces, got 'a word'"),
     (b"\xff\n", "words.txt: expected UTF-8")],
)  # fmt: skip
def test_a_damaged_list_of_words_is_refused(content, message, tmp_path):
    (tmp_path / "words.txt").write_bytes(content)
    with pytest.raises(VocabularyError, match=message):
        WordTokenizer.load(tmp_path)


# === What is refused ===


def changed(part, **changes):
    return OPTIONS | {part: OPTIONS[part] | changes}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "options.json: lstm.use_skip_connections is missing; expected the options of a language model"),
        (OPTIONS | {"lstm": 3}, "lstm.use_skip_connections is missing"),
        (OPTIONS | {"lstm": {"use_skip_connections": True}}, "lstm.projection_dim is missing"),
        (changed("lstm", projection_dim="6"), "lstm.projection_dim: expected a whole number of at least 1, got '6'"),
        (changed("lstm", n_layers=True), "lstm.n_layers: expected a whole number of at least 1, got True"),
        (changed("lstm", dim=6.0), "lstm.dim: expected a whole number of at least 1, got 6.0"),
        (changed("lstm", proj_clip=0), "lstm.proj_clip: expected a positive number, got 0"),
        (changed("char_cnn", activation=["relu"]), r"char_cnn.activation \['relu'\]: expected one of"),
        (changed("char_cnn", embedding=3), "char_cnn.embedding.dim is missing"),
        (changed("lstm", use_skip_connections=False), "expected lstm.use_skip_connections true"),
        (changed("char_cnn", activation="tanh"), "char_cnn.activation 'tanh': expected one of gelu"),
        (changed("lstm", cell_clip=None), "options.json: lstm.cell_clip: expected a positive number, got None"),
        (changed("lstm", n_layers=3), "Cell2/LSTMCell/W_0: expected an array of shape .*, it is missing"),
        (changed("lstm", n_layers=10**9), "it is missing; do the options belong to it"),
        (changed("lstm", dim=7), r"W_0: expected an array of shape \(8, 28\), got \(8, 24\); do the options belong"),
    ],
)
def test_options_that_do_not_fit_are_refused(options, message, tmp_path):
    with pytest.raises(CheckpointError, match=message):
        checkpoints.load(write(tmp_path / "model", WORDS, options, weights=arrays()))


def test_an_array_that_nobody_needs_is_refused_unless_asked(tmp_path):
    folder = write(tmp_path / "model", WORDS, weights=arrays() | {"softmax/W": np.zeros(3, "float32")})
    with pytest.raises(CheckpointError, match="unexpected: softmax/W"):
        checkpoints.load(folder)
    assert checkpoints.load(folder, strict=False).load_report.unexpected == ("softmax/W",)


def test_folders_with_half_of_the_files_are_refused(tmp_path):
    folder = write(tmp_path / "model", WORDS)
    (folder / "more_weights.hdf5").write_bytes(b"")
    with pytest.raises(CheckpointError, match=r"expected one file \*weights.hdf5, got more_weights.hdf5, weights.hdf5"):
        checkpoints.load(folder)
    (folder / "more_weights.hdf5").unlink()
    (folder / "options.json").unlink()
    with pytest.raises(CheckpointError, match=r"expected one file \*options.json, got none"):
        checkpoints.load(folder)


def test_a_truncated_file_is_refused(tmp_path):
    folder = write(tmp_path / "model", WORDS)
    content = (folder / "weights.hdf5").read_bytes()
    (folder / "weights.hdf5").write_bytes(content[: len(content) // 2])
    with pytest.raises(CheckpointError, match="weights.hdf5: cannot be read as HDF5 .*copy or download it again"):
        checkpoints.load(folder)


def test_without_words_the_weights_load_and_the_tokenizer_says_what_to_do(tmp_path):
    folder = write(tmp_path / "model")
    assert checkpoints.load(folder).config.vocab_size == 5
    assert not checkpoints.has_tokenizer(folder)
    with pytest.raises(CheckpointError, match="there is no words.txt; .*`bertlab vocab words TEXTS --out"):
        checkpoints.load_tokenizer(folder)
