"""Byte-level BPE: chunks, merging, learning, ids and offsets, files; and the whole way from text to a trained model.

With the published classes: tests/peers/test_bpe_huggingface.py.
"""

import json
import pickle
import sys
import time
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from bertlab import checkpoints, families, models
from bertlab.analysis.fill_mask import fill_mask
from bertlab.cli import cli
from bertlab.common.errors import CheckpointError, ConfigError, DataError, MissingDependencyError, VocabularyError
from bertlab.data.documents import Document
from bertlab.data.pretraining.examples import make_examples, tokenize_documents
from bertlab.data.pretraining.masking import PieceTable
from bertlab.data.pretraining.records import ExampleFiles
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.data.tasks.features import Features, encode_rows
from bertlab.data.tasks.rows import PairRow, QuestionRow, TaggingRow
from bertlab.data.tasks.windows import make_windows
from bertlab.predict.windows import text_windows
from bertlab.tokenizers.bpe import BytePairTokenizer, BytePairVocabulary, SpecialTokens
from bertlab.tokenizers.bpe.learner import count_chunks, learn, learn_from_counts
from bertlab.tokenizers.bpe.vocabulary import byte_characters
from bertlab.tokenizers.kinds import open_tokenizer
from bertlab.tokenizers.wordpiece.base import Tokenizer
from bertlab.training.presets import preset
from bertlab.training.pretraining import PretrainingRun

TEXTS = ["The cat sat on the mat.", "the cats' hats, that the cat's mother has", "Das Haus — the house; 100 mice!"] * 4
VOCABULARY = learn(TEXTS, size=300)
TOKENIZER = BytePairTokenizer(VOCABULARY)
PAD, CLS, SEP, MASK = VOCABULARY.pad_id, VOCABULARY.cls_id, VOCABULARY.sep_id, VOCABULARY.mask_id
any_text = st.text(st.characters(exclude_categories=["Cs"])) | st.text("ab \n'st0½é\u3000😀")


# --- chunks and bytes ---


@pytest.mark.parametrize(
    ("text", "chunks"),
    [("It's here", ["It", "'s", " here"]), ("a  b", ["a", " ", " b"]), ("a \n ", ["a", " \n "]),
     ("x2!?", ["x", "2", "!?"]), (" ½ é", [" ½", " é"]), ("I'LL we'll", ["I", "'", "LL", " we", "'ll"]), ("", []),
     ("\x1c\u3000a", ["\x1c", "\u3000", "a"])],
)  # fmt: skip
def test_chunks_are_words_with_their_space(text, chunks):
    assert list(count_chunks([text]).elements()) == list(Counter(chunks).elements())


def test_every_byte_has_one_visible_character():
    characters = byte_characters()
    assert len(set(characters)) == 256 and all(char.isprintable() and not char.isspace() for char in characters)
    assert (characters[ord("A")], characters[ord(" ")], characters[ord("\n")]) == ("A", "Ġ", "Ċ")
    assert BytePairTokenizer(learn(TEXTS, 261)).tokenize("é") == ["Ã", "©"]


# --- merging and learning ---


def slow_merge(characters, pairs):
    """The published rule: find the pair learned first, merge it everywhere from left to right, repeat."""
    tokens, ranks = list(characters), {pair: rank for rank, pair in enumerate(pairs)}
    while True:
        found = min((ranks.get(pair, len(ranks)) for pair in zip(tokens, tokens[1:])), default=len(ranks))
        if found == len(ranks):
            return tokens
        merged, place = [], 0
        while place < len(tokens):
            is_pair = tuple(tokens[place : place + 2]) == pairs[found]
            merged.append("".join(tokens[place : place + 1 + is_pair]))
            place += 1 + is_pair
        tokens = merged


@given(st.text("abc", max_size=30), st.integers(0, 12))
@settings(max_examples=300)
def test_merging_follows_the_published_rule(text, count):
    learned = learn_from_counts({"abcabcaabbcc" * 2: 9, "aaaaab": 5, "cababc": 7}, 261 + count)
    assert BytePairTokenizer(learned).tokenize(text) == slow_merge(text, learned.merges)


def test_a_long_chunk_is_merged_in_a_moment():
    began = time.perf_counter()
    assert TOKENIZER.decode(TOKENIZER.encode("the" * 50_000)) == "the" * 50_000
    TOKENIZER.encode(" " * 200_000 + "[MASK]", special_tokens=True)
    assert time.perf_counter() - began < 20  # a quadratic way takes an hour


@pytest.mark.parametrize(
    ("counts", "size", "merges"),
    [
        ({"hug": 10, "pug": 5, "pun": 12, "bun": 4, "hugs": 5}, 264, (("u", "g"), ("u", "n"), ("h", "ug"))),
        ({"ba": 3, "ab": 3}, 262, (("a", "b"),)),  # of equally frequent ones the older
        ({"ab": 1}, 300, ()),  # too rare
    ],
)
def test_learning_merges_the_most_frequent_pairs(counts, size, merges):
    assert learn_from_counts(counts, size).merges == merges


def test_special_tokens_have_robertas_ids():
    assert VOCABULARY.pieces[:4] == ("<s>", "<pad>", "</s>", "<unk>")
    assert (CLS, PAD, SEP, MASK) == (0, 1, 2, 299)


@pytest.mark.parametrize(("arguments", "error"), [((TEXTS, 260), ConfigError), (("text", 300), ConfigError),
                                                  (([1], 300), DataError), ((TEXTS, 300, 0), ConfigError)])  # fmt: skip
def test_wrong_arguments_are_refused(arguments, error):
    texts, size, *frequency = arguments
    with pytest.raises(error):
        learn(texts, size, **({"min_frequency": frequency[0]} if frequency else {}))


# --- encoding ---


@given(any_text)
@settings(max_examples=300)
def test_decoding_gives_the_text_back(text):
    assert TOKENIZER.decode(TOKENIZER.encode(text)) == text


@given(st.lists(any_text, max_size=4))
def test_all_forms_agree(texts):
    batch, detailed = TOKENIZER.encode_batch(texts), TOKENIZER.encode_batch_with_offsets(texts)
    assert batch.to_list() == [TOKENIZER.encode(text) for text in texts]
    np.testing.assert_array_equal(batch.values, detailed.values)
    np.testing.assert_array_equal(batch.row_splits, detailed.row_splits)
    one = TOKENIZER.encode_with_offsets("".join(texts))
    assert one.ids.tolist() == TOKENIZER.encode("".join(texts)) and len(one.pieces) == len(one.offsets)


@given(any_text)
def test_offsets_cover_all_but_spaces_in_order(text):
    offsets = TOKENIZER.encode_with_offsets(text).offsets
    covered = {place for start, end in offsets for place in range(start, end)}
    assert {place for place, char in enumerate(text) if char != " "} <= covered
    assert (np.diff(offsets[:, 0]) >= 0).all() and (offsets[:, 0] <= offsets[:, 1]).all()


def test_offsets_span_whole_characters_without_the_space():
    encoded = TOKENIZER.encode_with_offsets("a cat ☃")
    assert [("a cat ☃"[start:end]) for start, end in encoded.offsets] == ["a", "cat", "", "☃", "☃", "☃"]
    assert encoded.word_ids.tolist() == [0, 1, 2, 2, 2, 2]


def test_special_tokens_are_read_only_if_asked():
    assert MASK not in TOKENIZER.encode("the <mask> sat [MASK]")
    for mask in ("<mask>", "[MASK]"):
        ids = TOKENIZER.encode(f"the {mask} sat</s>", special_tokens=True)
        assert ids == [*TOKENIZER.encode("the"), MASK, *TOKENIZER.encode(" sat"), SEP]
    encoded = TOKENIZER.encode_with_offsets("the <mask> sat", special_tokens=True)
    assert encoded.offsets.tolist()[-2:] == [[4, 10], [11, 14]]


def test_a_mask_that_takes_its_space_is_trimmed_like_a_word():
    found = TOKENIZER.encode_with_offsets("b  <mask>", special_tokens=True)
    assert found.offsets.tolist() == [[0, 1], [3, 9]] and found.ids[1] == MASK
    untrimmed = BytePairTokenizer(VOCABULARY, trim_offsets=False)
    assert untrimmed.encode_with_offsets("b <mask>", special_tokens=True).offsets.tolist() == [[0, 1], [1, 8]]


def test_a_lone_surrogate_becomes_the_replacement_character():
    assert TOKENIZER.decode(TOKENIZER.encode("a\ud800b")) == "a\ufffdb"
    assert TOKENIZER.encode_with_offsets("a\ud800b").offsets.max() == 3


def test_pairs_have_two_separators_between_them():
    packed = TOKENIZER.pack([10, 11], [12])
    assert packed["input_ids"].tolist() == [CLS, 10, 11, SEP, SEP, 12, SEP]
    assert TOKENIZER.pack([10, 11, 12], [13], max_length=7)["input_ids"].tolist() == [CLS, 10, 11, SEP, SEP, 13, SEP]
    batch = TOKENIZER.encode_packed(["the", "cat"], ["a", "the mat"])
    assert batch["input_ids"].shape == batch["attention_mask"].shape
    with pytest.raises(ConfigError, match="at least 4"):
        TOKENIZER.pack([1], [2], max_length=3)


def test_it_keeps_the_protocol_and_travels_to_another_process():
    assert isinstance(TOKENIZER, Tokenizer)
    again = pickle.loads(pickle.dumps(TOKENIZER))
    assert again.vocabulary == VOCABULARY and again.encode(TEXTS[2]) == TOKENIZER.encode(TEXTS[2])
    with pytest.raises(ConfigError, match="--onnx"):
        TOKENIZER.graph()
    with pytest.raises(DataError, match="id 300 is outside"):
        TOKENIZER.decode([300])


# --- files ---


def as_tokenizer_json(**changes):
    model = {"type": "BPE", "vocab": {piece: number for number, piece in enumerate(VOCABULARY.pieces)},
             "merges": [list(pair) for pair in VOCABULARY.merges]}  # fmt: skip
    return {"model": model, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False},
            "post_processor": {"type": "RobertaProcessing", "trim_offsets": True}} | changes  # fmt: skip


@pytest.mark.parametrize("in_one_file", [False, True])
def test_files_give_the_same_tokenizer(tmp_path, in_one_file):
    if in_one_file:
        (tmp_path / "tokenizer.json").write_text(json.dumps(as_tokenizer_json()))
    else:
        TOKENIZER.save(tmp_path)
    for loaded in (BytePairTokenizer.load(tmp_path), checkpoints.load_tokenizer(tmp_path), open_tokenizer(tmp_path)):
        assert loaded.vocabulary == VOCABULARY and loaded.settings() == TOKENIZER.settings()
        assert loaded.encode(TEXTS[1]) == TOKENIZER.encode(TEXTS[1])


def test_other_names_of_special_tokens_are_kept(tmp_path):
    special = SpecialTokens("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    BytePairTokenizer(learn(TEXTS, 300, special=special), add_prefix_space=True).save(tmp_path)
    loaded = BytePairTokenizer.load(tmp_path)
    assert loaded.vocabulary.special == special and loaded.add_prefix_space
    assert loaded.encode("[CLS]the", special_tokens=True)[0] == loaded.vocabulary.cls_id


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("vocab.json", "[]", "expected a JSON object"),
        ("vocab.json", '{"a": 0, "b": 2}', "not 0 to 1, each once"),
        ("vocab.json", '{"a": "0"}', "whole numbers"),
        ("vocab.json", '{"a": 0}', "'<pad>' is missing"),
        ("merges.txt", "#version: 0.2\na b c\n", "line 2: expected two tokens"),
        ("merges.txt", "#version: 0.2\nq q\n", "merge 1 makes 'qq'"),
        ("merges.txt", b"\xff\xfe", "not UTF-8"),
        ("merges.txt", None, r"merges\.txt: cannot be read .* expected it beside vocab\.json"),
        ("tokenizer_config.json", "{", "not valid JSON"),
        ("tokenizer_config.json", '{"add_prefix_space": 3}', "must be true or false"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, name, content, message):
    TOKENIZER.save(tmp_path)
    (tmp_path / name).unlink()
    if content is not None:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises((VocabularyError, ConfigError), match=message):
        BytePairTokenizer.load(tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"normalizer": {"type": "NFKC"}}, "the normalizer .* is not supported, only NFC is"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "expected a pre_tokenizer of type 'ByteLevel'"),
        ({"model": {"type": "Unigram"}}, "expected a tokenizer of type 'BPE'"),
        *(
            ({"model": as_tokenizer_json()["model"] | {"merges": merges}}, "expected merges of two tokens each")
            for merges in (None, [1], [["l", 2]], {})
        ),
        (
            {"added_tokens": [{"id": 300, "content": "<extra>", "rstrip": True}]},
            "added token '<extra>' with rstrip is not supported",
        ),
        ({"added_tokens": [{"id": 300, "content": ""}]}, "expected added_tokens with a text each"),
        ({"post_processor": {"type": "BertProcessing"}}, "the post_processor .* is not supported"),
        ({"post_processor": {"type": "TemplateProcessing", "pair": []}}, "puts a pair of texts together as ''"),
    ],
)
def test_a_tokenizer_json_of_another_kind_is_refused(tmp_path, changes, message):
    (tmp_path / "tokenizer.json").write_text(json.dumps(as_tokenizer_json(**changes)))
    with pytest.raises(VocabularyError, match=message):
        BytePairTokenizer.load(tmp_path)


@pytest.mark.parametrize("model", [{"type": ["x"]}, {"type": None}, []])
def test_a_tokenizer_json_without_a_type_is_refused(tmp_path, model):
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": model}))
    with pytest.raises(VocabularyError, match="expected a JSON object with a model and its type"):
        open_tokenizer(tmp_path)


def test_without_the_package_the_weights_load_and_the_first_text_names_it(tmp_path, monkeypatch):
    checkpoints.save(models.PreTrainingModel(small_roberta()), tmp_path, TOKENIZER, format="bertlab")
    monkeypatch.setitem(sys.modules, "tokenizers", None)  # importing it now raises ImportError
    assert checkpoints.load(tmp_path).config == small_roberta()
    loaded = checkpoints.load_tokenizer(tmp_path)
    for use in (lambda: loaded.encode("the"), lambda: loaded.decode([5]), lambda: learn(TEXTS, 300)):
        with pytest.raises(MissingDependencyError, match=r"needs the package tokenizers: pip install .bertlab\[bpe\]"):
            use()


def test_a_token_that_is_there_twice_is_named():
    with pytest.raises(VocabularyError, match="'a' is there twice"):
        BytePairVocabulary([*VOCABULARY.pieces, "a"], [])


# --- from text to a model ---


def small_roberta():
    return families.family("roberta").config(vocab_size=300, hidden_size=16, num_layers=2, num_heads=2,
                                             intermediate_size=24, max_position_embeddings=34)  # fmt: skip


DOCUMENTS = [Document(str(number), ((TEXTS[0], TEXTS[1]), (TEXTS[2],))) for number in range(6)]


def test_sentences_of_a_document_are_joined_with_a_space():
    tokens = tokenize_documents(DOCUMENTS[:1], TOKENIZER)
    assert TOKENIZER.decode(tokens.values) == " ".join(TEXTS[:3])


def test_full_sentence_rows_go_on_across_documents():
    rows = make_examples(DOCUMENTS, TOKENIZER, ExampleSettings.preset("roberta", sequence_length=32))
    first = rows["input_ids"][rows["sequence_ids"][:, 0] > 0]
    assert (first[:, 0] == CLS).all() and "masked_lm_ids" not in rows
    inner = [row[1 : np.flatnonzero(row == SEP)[-1]] for row in first]
    assert any(SEP in row for row in inner) and np.mean(rows["sequence_ids"] > 0) > 0.7  # long sentences, short rows


def test_whole_words_begin_with_a_space():
    continues = PieceTable.of(VOCABULARY).continues
    assert not continues[VOCABULARY.index("Ġthe")] and continues[VOCABULARY.index("t")] and not continues[MASK]


def test_tasks_are_packed_with_the_same_separators():
    features = encode_rows([PairRow("the cat", "a mat", 0)], TOKENIZER, 16, ["x"])
    ids = features.batch([0], 16)[0]["input_ids"][0].tolist()
    one, other = TOKENIZER.encode("the cat"), TOKENIZER.encode("a mat")
    assert ids[: features.lengths[0]] == [CLS, *one, SEP, SEP, *other, SEP]
    tags = encode_rows([TaggingRow(("the", "cat"), (0, 1))], TOKENIZER, 16, ["O", "A"])
    assert tags.batch([0], 16)[0]["input_ids"][0].tolist()[1:3] == TOKENIZER.encode("the cat")[:2]


def test_windows_of_questions_have_space_for_the_two_separators():
    row = QuestionRow("1", "what sat?", "the cat sat on the mat " * 4, ("the mat",), (15,))
    windows = make_windows([row], TOKENIZER, max_length=24, stride=8, max_question_length=8)
    ids = windows.features.batch(range(len(windows.features)), 24)[0]["input_ids"]
    question = TOKENIZER.encode("what sat?")
    start = len(question) + 3
    assert ids[0][:start].tolist() == [CLS, *question, SEP, SEP] and windows.context_column[0] == start
    first, last = (windows.features.targets[name][0] for name in ("start_positions", "end_positions"))
    assert TOKENIZER.decode(ids[0][first : last + 1]) == " the mat"


def test_a_long_pair_is_read_in_windows_that_fit():
    whole = encode_rows([PairRow("the cat " * 9, "a mat " * 9)], TOKENIZER, 10_000)
    first, second, _ = text_windows(whole.first, whole.second, 16, VOCABULARY)
    assert Features(VOCABULARY, first, second).lengths.max() <= 16


def test_fill_mask_reads_berts_mask():
    model = models.PreTrainingModel(small_roberta())
    for text in ("the [MASK] sat", "the <mask> sat"):
        assert len(fill_mask(model, TOKENIZER, text, top_k=3)[0]) == 3


@pytest.mark.slow
def test_the_commands_learn_make_data_and_pretrain(tmp_path):
    (tmp_path / "text.txt").write_text("\n\n".join("\n".join(TEXTS[:3]) for _ in range(40)))

    def run(*arguments):
        return CliRunner().invoke(cli, [*map(str, arguments)], catch_exceptions=False)

    learned = run("vocab", "learn-bpe", tmp_path / "text.txt", "--size", "300", "--out", tmp_path / "bpe")
    assert learned.exit_code == 0 and "300 tokens" in learned.output
    shown = run("vocab", "show", tmp_path / "bpe", "--word", "the cat", "--text", tmp_path / "text.txt")
    assert "the Ġcat" in shown.output and "bytes per token" in shown.output
    assert run("tokenize", "--vocab", tmp_path / "bpe", "the cat").output == "the Ġcat\n"
    made = run("data", "make", tmp_path / "text.txt", "--vocab", tmp_path / "bpe", "--out", tmp_path / "examples",
               "--preset", "roberta", "--sequence-length", "32")  # fmt: skip
    assert made.exit_code == 0
    files = ExampleFiles(tmp_path / "examples")
    assert files.tokenizer.vocabulary == BytePairTokenizer.load(tmp_path / "bpe").vocabulary
    assert run("data", "show", tmp_path / "examples").exit_code == 0
    run_of_a_size = PretrainingRun("tiny", tmp_path / "examples", tmp_path / "tiny", preset("small", steps=4))
    assert run_of_a_size.config.pad_token_id == PAD == 1
    counted_from_0 = small_roberta().replace(pad_token_id=0)
    with pytest.raises(ConfigError, match="pad_token_id is 0, but padding has the id 1"):
        PretrainingRun(counted_from_0, tmp_path / "examples", tmp_path / "other", preset("small", steps=4))
    small_roberta().save(tmp_path / "config.json")
    trained = run("pretrain", tmp_path / "config.json", "--data", tmp_path / "examples", "--out", tmp_path / "run",
                  "--preset", "small", "--steps", "4", "--batch-size", "4", "--interval", "2", "--no-xla")  # fmt: skip
    assert trained.exit_code == 0, trained.output
    folder = tmp_path / "run" / "checkpoint"
    assert {path.name for path in folder.iterdir()} >= {"vocab.json", "merges.txt", "model.safetensors"}
    assert checkpoints.load_tokenizer(folder).vocabulary == files.tokenizer.vocabulary
    filled = run("fill-mask", "--model", folder, "the [MASK] sat")
    assert filled.exit_code == 0


def test_a_checkpoint_with_another_vocabulary_is_refused(tmp_path):
    folder = checkpoints.save(models.PreTrainingModel(small_roberta()), tmp_path / "saved", TOKENIZER, format="bertlab")
    assert checkpoints.load(folder).config.vocab_size == 300
    BytePairTokenizer(learn(["other words " * 9], 300, min_frequency=1)).save(folder)
    with pytest.raises(CheckpointError, match="is not the vocabulary that"):
        checkpoints.load(folder)


@pytest.mark.parametrize("name", ["vocab.txt", "vocab.json", "tokenizer.json"])
def test_a_foreign_or_damaged_tokenizer_does_not_keep_weights_from_loading(tmp_path, name):
    checkpoints.save(models.PreTrainingModel(small_roberta()), tmp_path)
    (tmp_path / name).write_text("{")
    assert checkpoints.load(tmp_path).config == small_roberta()
    with pytest.raises((VocabularyError, CheckpointError)):
        checkpoints.load_tokenizer(tmp_path)
