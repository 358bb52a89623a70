"""Tokens that were added to a vocabulary: read whole in every form, from each file that lists them, and written again.

Against transformers: tests/peers/test_today_peers.py.
"""

import json

import numpy as np
import pytest
from checkpoint_files import edit_config, edit_tensors, golden_copy, tokenizer

from bertlab import checkpoints
from bertlab.common.errors import CheckpointError, ConfigError, VocabularyError
from bertlab.tokenizers.kinds import open_tokenizer
from bertlab.tokenizers.wordpiece import SPECIAL_TOKENS, Vocabulary, WordPieceTokenizer

PIECES = [*SPECIAL_TOKENS, "the", "e", "##1", "[", "]", "/", "a", "robin", "covid", "##19"]
TEXT = "The [E1] covid19 [/E1] robin[E1]a COVID19a"
TOKENS = ["the", "[E1]", "covid19", "[/E1]", "robin", "[E1]", "a", "covid19", "a"]


def entry(text, special):
    return {"content": text, "single_word": False, "lstrip": False, "rstrip": False, "normalized": not special,
            "special": special}  # fmt: skip


ENTRIES = [entry("[E1]", True), entry("[/E1]", True), entry("covid19", False)]
NUMBERED = {len(PIECES) + number: one for number, one in enumerate(ENTRIES)}


def tokenizer_json(pieces=PIECES, added=NUMBERED, **normalizer):
    usual = {"type": "BertNormalizer", "lowercase": True, "strip_accents": None, "handle_chinese_chars": True}
    return {
        "added_tokens": [{"id": number} | one for number, one in added.items()],
        "normalizer": usual | normalizer,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {"type": "WordPiece", "vocab": {piece: number for number, piece in enumerate(pieces)},
                  "max_input_chars_per_word": 100},
    }  # fmt: skip


def write(folder, source):
    """The same tokenizer in different files."""
    folder.mkdir(exist_ok=True)
    if source != "tokenizer.json alone":
        Vocabulary(PIECES).save(folder / "vocab.txt")
    contents = {
        "added_tokens.json": {one["content"]: number for number, one in NUMBERED.items()},
        "tokenizer_config.json": {"added_tokens_decoder": {str(number): one for number, one in NUMBERED.items()}},
        "tokenizer.json": tokenizer_json(),
    }
    name = source.split()[0]
    (folder / name).write_text(json.dumps(contents[name]))
    return folder


SOURCES = ["added_tokens.json", "tokenizer_config.json", "tokenizer.json", "tokenizer.json alone"]


@pytest.mark.parametrize("source", SOURCES)
def test_added_tokens_are_read_whole_from_each_file_that_lists_them(source, tmp_path):
    found = checkpoints.load_tokenizer(write(tmp_path, source))
    assert found.tokenize(TEXT) == TOKENS
    assert len(found.vocabulary) == len(PIECES) + 3 and found.vocabulary.index("[E1]") == len(PIECES)


@pytest.mark.parametrize("source", SOURCES[:3])
def test_a_vocabulary_that_is_named_as_a_file_has_the_tokens_that_were_added_beside_it(source, tmp_path):
    found = open_tokenizer(write(tmp_path, source) / "vocab.txt")
    assert found.tokenize(TEXT) == TOKENS and len(found.vocabulary) == len(PIECES) + 3
    (tmp_path / "vocab.txt").rename(tmp_path / "mine.txt")
    assert len(open_tokenizer(tmp_path / "mine.txt").vocabulary) == len(PIECES)  # of no other file's tokenizer


@pytest.fixture(scope="module")
def added(tmp_path_factory):
    return WordPieceTokenizer.load(write(tmp_path_factory.mktemp("added"), "tokenizer.json alone"))


@pytest.mark.parametrize("special_tokens", [False, True])
def test_all_forms_give_the_same_tokens_and_places(added, special_tokens):
    texts = [TEXT, TEXT + " [MASK]", "", "\u00c7a C\u00d3VID19 the", "[e1] covid1 9"]
    texts += [f"{TEXT} {number}" for number in range(400)]  # many: NumPy's tables are used
    expected = [added.encode(text, special_tokens) for text in texts]
    batch = added.encode_batch_with_offsets(texts, special_tokens)
    assert added.encode_batch(texts[:5], special_tokens).to_list() == expected[:5]
    assert added.encode_batch(texts, special_tokens).to_list() == expected
    assert batch.values.tolist() == [number for row in expected for number in row]
    one = added.encode_with_offsets(texts[3], special_tokens)
    assert [texts[3][start:end] for start, end in one.offsets] == ["\u00c7a", "C\u00d3VID19", "the"]
    np.testing.assert_array_equal(added.encode_batch_with_offsets(texts[3:4], special_tokens).offsets, one.offsets)


def test_a_token_that_is_looked_for_before_normalisation_keeps_its_capitals(added):
    assert "[E1]" not in added.tokenize("[e1]") and added.tokenize("[e1]")[:1] == ["["]
    words = added.tokenize("covid1 covid19")
    assert words == ["covid", "##1", "covid19"]


def test_decoding_leaves_out_special_ones_alone(added):
    ids = added.encode("the [E1] covid19")
    assert added.decode(ids) == "the covid19" and "[E1]" in added.decode(ids, skip_special_tokens=False)


@pytest.mark.parametrize("save", ["save", "save_vocabulary"])
def test_written_again_it_is_the_same_tokenizer(added, save, tmp_path):
    getattr(added, save)(tmp_path)
    again = checkpoints.load_tokenizer(tmp_path)
    assert again.vocabulary == added.vocabulary and again.vocabulary.sha256 == added.vocabulary.sha256
    assert again.tokenize(TEXT) == TOKENS
    assert added.vocabulary.sha256 != Vocabulary(added.vocabulary.pieces).sha256


def test_a_model_with_added_tokens_is_loaded_and_its_vocabulary_checked(tmp_path):
    folder = golden_copy("gelu", tmp_path / "model")
    edit_tensors(
        folder,
        lambda a: a.update({name: np.concatenate([a[name], a[name][:3]]) for name in a if a[name].shape[0] == 61}),
    )
    edit_config(folder, vocab_size=64)
    own = list(tokenizer().vocabulary.pieces)
    content = tokenizer_json(own, {61 + number: one for number, one in enumerate(ENTRIES)})
    (folder / "tokenizer.json").write_text(json.dumps(content))
    model, read = checkpoints.load(folder), checkpoints.load_tokenizer(folder)
    assert read.tokenize("a [E1]") == ["a", "[E1]"]
    for format in checkpoints.saving.FORMATS:
        again = checkpoints.save(model, tmp_path / format, read, format)
        checkpoints.load(again)
        assert checkpoints.load_tokenizer(again).vocabulary == read.vocabulary
    (folder / "tokenizer.json").write_text(json.dumps(content | {"added_tokens": []}))
    with pytest.raises(
        CheckpointError, match="has 61 tokens.*vocab_size is 64.*later ids are wrong.*tokens were added"
    ):
        checkpoints.load(folder)


@pytest.mark.parametrize(
    ("added", "message"),
    [
        ({len(PIECES) + 1: ENTRIES[0]}, r"'\[E1\]' has the id 16, but there are only 15 tokens before it"),
        ({5: ENTRIES[0]}, r"5 is the id of 'the' and of the added token '\[E1\]'"),
        ({len(PIECES): ENTRIES[0] | {"single_word": True}}, r"'\[E1\]' with single_word is not supported"),
        ({len(PIECES): ENTRIES[0] | {"content": ""}}, "got an empty one"),
    ],
)
def test_lists_that_do_not_fit_are_refused(added, message, tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer_json(added=added)))
    with pytest.raises(VocabularyError, match=message):
        checkpoints.load_tokenizer(tmp_path)


def test_a_token_of_the_vocabulary_that_is_listed_too_is_read_whole(tmp_path):
    pieces = [*PIECES, "[unused1]"]
    content = tokenizer_json(pieces, {len(PIECES): entry("[unused1]", True)})
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    assert checkpoints.load_tokenizer(tmp_path).tokenize("the [unused1]") == ["the", "[unused1]"]


def test_in_a_graph_tokens_that_keep_their_capitals_are_read_and_others_refused(added):
    pytest.importorskip("tensorflow_text")
    exact = WordPieceTokenizer(Vocabulary(added.vocabulary.pieces, added=added.vocabulary.added[:2]))
    texts = ["the [E1]a[/E1]robin", "a [MASK] \u00e9"]
    for special_tokens in (False, True):
        found = exact.graph(special_tokens)(texts).to_list()
        assert found == exact.encode_batch(texts, special_tokens).to_list()
    with pytest.raises(ConfigError, match="added token 'covid19'.*--onnx"):
        added.graph()


# === tokenizer.json of WordPiece ===


def test_settings_are_read_from_tokenizer_json_beside_a_vocabulary(tmp_path):
    Vocabulary([*SPECIAL_TOKENS, "\u00e9t\u00e9", "Berlin"]).save(tmp_path / "vocab.txt")
    content = tokenizer_json(added={}, lowercase=True, strip_accents=False)
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    for found in (checkpoints.load_tokenizer(tmp_path), WordPieceTokenizer.load(tmp_path)):
        assert found.tokenize("\u00c9t\u00e9") == ["\u00e9t\u00e9"] and found.max_chars_per_word == 100
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"strip_accents": True}))  # it comes first
    assert checkpoints.load_tokenizer(tmp_path).tokenize("\u00c9t\u00e9") == ["[UNK]"]


def test_ids_without_a_token_and_empty_tokens_are_kept_as_places(tmp_path):
    """As transformers saves the published Chinese list, some lines of which are white space to it."""
    content = tokenizer_json([], {})
    content["model"]["vocab"] = {piece: n for n, piece in enumerate(SPECIAL_TOKENS)} | {
        "a": 5,
        "b": 7,
        "##c": 9,
        "": 10,
    }
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    found = checkpoints.load_tokenizer(tmp_path)
    assert [found.pack(found.encode(text))["input_ids"].tolist() for text in ("ab", "a c b", "ac")] == [
        [2, 1, 3], [2, 5, 1, 7, 3], [2, 5, 9, 3]
    ]  # fmt: skip
    assert len(found.vocabulary) == 11
    found.save(tmp_path / "again")
    assert checkpoints.load_tokenizer(tmp_path / "again").vocabulary == found.vocabulary


@pytest.mark.parametrize("vocab", [{"[PAD]": 0, "a": 0}, {"[PAD]": -1}, {"[PAD]": 10**9}, {"[PAD]": "0"}, {}, []])
def test_ids_that_cannot_be_those_of_a_vocabulary_are_refused(vocab, tmp_path):
    content = tokenizer_json()
    content["model"]["vocab"] = vocab
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    with pytest.raises(VocabularyError, match="each once|with its vocabulary"):
        checkpoints.load_tokenizer(tmp_path)


def test_the_commands_read_a_folder_with_tokenizer_json_alone(tmp_path):
    from click.testing import CliRunner

    from bertlab.cli import cli

    result = CliRunner().invoke(cli, ["tokenize", "--vocab", str(write(tmp_path, "tokenizer.json alone")), TEXT])
    assert result.exit_code == 0 and result.output.split() == TOKENS


# === A vocabulary that is shorter than the table ===


def test_rows_without_a_token_are_named_where_they_are_accepted(tmp_path):
    folder = golden_copy("gelu", tmp_path / "short")
    tokenizer(60).vocabulary.save(folder / "vocab.txt")
    message = (
        "has 60 tokens.*vocab_size is 61: the last 1 rows .* padding; if a token is missing .* later ids are wrong"
    )
    with pytest.warns(match=message):
        checkpoints.load(folder, padded_vocabulary=True)


def test_the_command_line_prints_a_warning_as_one_line(tmp_path, capsys):
    import warnings

    import click

    from bertlab.cli.lazy import run
    from bertlab.common.errors import BertLabWarning

    @click.command()
    def command():
        warnings.warn("rows are left over", BertLabWarning, stacklevel=1)

    usual = warnings.showwarning
    try:
        with pytest.raises(SystemExit), pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
            patch.setattr("sys.argv", ["name"])
            warnings.simplefilter("always")
            warnings.showwarning = usual
            run(command, "bertlab")
    finally:
        warnings.showwarning = usual
    assert capsys.readouterr().err == "bertlab: rows are left over\n"
