"""SentencePiece with its package: learning, ids like those of transformers' AlbertTokenizer, the way to a model."""

import pickle
import random
from pathlib import Path

import numpy as np
import pytest
from bertlab_command import run

from bertlab import checkpoints, families, models
from bertlab.common.errors import CheckpointError, DataError, VocabularyError
from bertlab.data.documents import Document
from bertlab.data.pretraining.examples import make_examples
from bertlab.data.pretraining.settings import ExampleSettings
from bertlab.data.tasks.rows import QuestionRow
from bertlab.data.tasks.windows import make_windows
from bertlab.tokenizers.sentence_pieces import SentencePieceTokenizer, learn
from bertlab.tokenizers.wordpiece.base import Tokenizer

pytest.importorskip("sentencepiece")
pytestmark = pytest.mark.peers
DOCS = Path(__file__).parents[2] / "docs"
LINES = [line for path in sorted(DOCS.glob("*.md")) for line in path.read_text(encoding="utf-8").split("\n")]
POOLS = ("abc def'\n\t  s t`` ''", "   \u3000\x85\xa0\n ", "éßñ字🎉😀👩‍👩‍👧ÇA", "0123 ½Ⅷ٣", "The Cat.")


@pytest.fixture(scope="module")
def tokenizer():
    return learn(LINES, 1000)


def random_text(rng):
    """Without brackets: transformers always reads "[MASK]" and "<unk>" as the tokens."""
    if rng.random() < 0.5:
        return rng.choice(LINES)[: rng.randrange(80)].replace("[", "(").replace("<", "(")
    return "".join(rng.choice(rng.choice(POOLS)) for _ in range(rng.randrange(25)))


def test_learning_gives_the_published_special_tokens_and_the_same_bytes(tokenizer):
    assert isinstance(tokenizer, Tokenizer) and len(tokenizer.vocabulary) == 1000
    assert tokenizer.vocabulary.pieces[:5] == ("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]")
    assert learn(LINES, 1000).vocabulary == tokenizer.vocabulary
    with pytest.raises(DataError, match="SentencePiece cannot learn 5000 tokens"):
        learn(["a b c"], 5000)


def test_long_lines_are_learned_from_too():
    line = " ".join(LINES)
    assert len(line) > 4192 and len(learn([line], 1000).vocabulary) == 1000


def test_ids_are_those_of_transformers(tokenizer, tmp_path):
    transformers = pytest.importorskip("transformers")
    tokenizer.save(tmp_path)
    theirs, rng = transformers.AlbertTokenizer.from_pretrained(tmp_path), random.Random(0)
    for _ in range(4000):
        text = random_text(rng)
        assert tokenizer.encode(text) == theirs(text, add_special_tokens=False)["input_ids"], repr(text)
    packed = tokenizer.pack(tokenizer.encode("the cat"), tokenizer.encode("it"))
    assert packed["input_ids"].tolist() == theirs("the cat", "it")["input_ids"]


def test_all_forms_agree_and_offsets_are_in_the_text(tokenizer):
    rng = random.Random(1)
    texts = ["", *(random_text(rng) for _ in range(300))]
    batch, detailed = tokenizer.encode_batch(texts), tokenizer.encode_batch_with_offsets(texts)
    assert batch.to_list() == [tokenizer.encode(text) for text in texts]
    assert batch.values.tolist() == detailed.values.tolist()
    for row, text in enumerate(texts):
        spans = detailed.offsets[detailed.row_splits[row] : detailed.row_splits[row + 1]]
        assert all(0 <= start <= end <= len(text) for start, end in spans)
    found = tokenizer.encode_with_offsets("The  [MASK] Café", special_tokens=True)
    assert "The  [MASK] Café"[slice(*found.offsets[1])] == "[MASK]" and found.ids[1] == tokenizer.vocabulary.mask_id
    assert tokenizer.decode(tokenizer.encode("The Café")) == "the cafe"
    assert pickle.loads(pickle.dumps(tokenizer)).encode("the") == tokenizer.encode("the")


def test_a_file_that_is_not_a_model_is_refused(tmp_path):
    (tmp_path / "spiece.model").write_bytes(b"xx")
    with pytest.raises(VocabularyError, match="spiece.model: is not a SentencePiece model"):
        SentencePieceTokenizer.load(tmp_path)


def test_the_commands_learn_make_data_and_pretrain(tmp_path):
    (tmp_path / "text.txt").write_text("\n".join(LINES), encoding="utf-8")
    run("vocab", "learn-sentencepiece", tmp_path / "text.txt", "--size", "400", "--out", tmp_path / "pieces")
    assert "▁the" in run("tokenize", "--vocab", tmp_path / "pieces", "The cat")
    run("data", "make", tmp_path / "text.txt", "--vocab", tmp_path / "pieces", "--out", tmp_path / "examples",
        "--preset", "sentence-order", "--sequence-length", "32", "--duplicate-factor", "1")  # fmt: skip
    config = families.family("albert").config(
        vocab_size=400, embedding_size=8, hidden_size=16, num_layers=2, num_heads=2, intermediate_size=24,
        max_position_embeddings=32,
    )  # fmt: skip
    config.save(tmp_path / "config.json")
    run("pretrain", tmp_path / "config.json", "--data", tmp_path / "examples", "--out", tmp_path / "run", "--preset",
        "small", "--steps", "2", "--interval", "1", "--batch-size", "4", "--no-xla")  # fmt: skip
    folder = tmp_path / "run" / "checkpoint"
    run("fill-mask", "--model", folder, "the [MASK] is")
    native = checkpoints.save(
        checkpoints.load(folder), tmp_path / "native", checkpoints.load_tokenizer(folder), "bertlab"
    )
    assert checkpoints.load(native).config == config
    learn(LINES, 400, lowercase=False).save(native)
    with pytest.raises(CheckpointError, match="is not the vocabulary that"):
        checkpoints.load(native)


# --- rows that end with <cls> ---


@pytest.fixture(scope="module")
def cls_last():
    return learn(LINES, 1000, lowercase=False, cls_last=True)


def test_xlnets_ids_and_rows_are_those_of_transformers(cls_last, tmp_path):
    transformers = pytest.importorskip("transformers")
    cls_last.save(tmp_path)
    theirs, rng = transformers.XLNetTokenizer.from_pretrained(tmp_path), random.Random(0)
    assert cls_last.vocabulary.pieces[:9] == ("<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>",
                                              "<eop>")  # fmt: skip
    for _ in range(500):
        text = random_text(rng).replace("<", "(")
        assert cls_last.encode(text) == theirs(text, add_special_tokens=False)["input_ids"], repr(text)
    for texts in (("the cat",), ("the cat", "it")):
        row, expected = cls_last.pack(*map(cls_last.encode, texts)), theirs(*texts, return_token_type_ids=True)
        assert row["input_ids"].tolist() == expected["input_ids"]
        assert row["token_type_ids"].tolist() == expected["token_type_ids"]
    (tmp_path / "tokenizer_config.json").unlink()
    assert checkpoints.load_tokenizer(tmp_path).settings() == {"lowercase": False, "keep_accents": False}


def test_examples_end_with_cls_in_a_segment_of_its_own(cls_last):
    documents = [Document(id=str(i), paragraphs=(tuple(LINES[i * 9 + k] or "a" for k in range(9)),)) for i in range(8)]
    vocabulary = cls_last.vocabulary
    for changes in ({}, {"next_sentence": False}, {"next_sentence": False, "packing": False}):
        settings = ExampleSettings(sequence_length=32, duplicate_factor=1, dynamic_masking=True, **changes)
        rows = make_examples(documents, cls_last, settings)
        ids, segments = rows["input_ids"], rows["token_type_ids"]
        real = rows.get("attention_mask", rows.get("sequence_ids")) > 0
        assert ((ids == vocabulary.pad_id) == ~real).all() and ((segments == 2) == (ids == vocabulary.cls_id)).all()
        row, column = np.nonzero(ids == vocabulary.cls_id)
        assert (ids[row, column - 1] == vocabulary.sep_id).all() and len(row) >= len(ids)


def test_xlnet_is_trained_fine_tuned_and_answers_with_its_own_rows(cls_last, tmp_path):
    vocabulary = cls_last.vocabulary
    context = "The tests run. They take a minute each, and the notebooks take longer than that."
    rows = [QuestionRow("1", "what?", context, ("tests",), (4,)), QuestionRow("2", "why?", context)]
    windows = make_windows(rows, cls_last, max_length=24, stride=8, max_question_length=8)
    inputs, targets = windows.features.batch(range(len(windows)), 24)
    ids = inputs["input_ids"]
    for window, row in enumerate(ids):
        assert row[windows.no_answer_column[window]] == vocabulary.cls_id
        begin, count = windows.context_column[window], windows.num_tokens[window]
        assert row[begin - 1] == row[begin + count] == vocabulary.sep_id
    start, end = targets["start_positions"], targets["end_positions"]
    assert cls_last.decode(ids[0, start[0] : end[0] + 1]) == "tests"
    assert start[-1] == end[-1] == windows.no_answer_column[-1]

    config = families.family("xlnet").config(
        vocab_size=1000, hidden_size=16, num_layers=1, num_heads=2, intermediate_size=24, max_position_embeddings=32
    )
    folder = checkpoints.save(models.PreTrainingModel(config), tmp_path / "model", cls_last)
    (tmp_path / "tags.conll").write_text("".join(f"the O\ncat{i} B-X\n\n" for i in range(12)))
    (tmp_path / "lines.txt").write_text("the cat\n")
    run("finetune", tmp_path / "tags.conll", "--model", folder, "--out", tmp_path / "run", "--epochs", "1",
        "--validation-share", "0.25", "--max-length", "16", "--batch-size", "8")  # fmt: skip
    assert run("predict", tmp_path / "run", tmp_path / "lines.txt").strip()
    run("encode", tmp_path / "lines.txt", "--model", folder, "--out", tmp_path / "vectors.npy", "--pooling", "cls")
    assert "▁the" in run("fill-mask", "--model", folder, "--top", "1000", "the <mask> is")
