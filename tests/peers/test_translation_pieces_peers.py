"""The tokenizer of published translation models: ids and texts are those of transformers' MarianTokenizer."""

import io
import json
import pickle
import random
from pathlib import Path

import numpy as np
import pytest
from bertlab_command import run

from bertlab import checkpoints, models
from bertlab.common.errors import VocabularyError
from bertlab.data.pretraining.pairs import pair_rows, pair_settings
from bertlab.families import MarianConfig
from bertlab.generation import TranslationSettings, translate, translate_text
from bertlab.tokenizers.translation_pieces import TranslationTokenizer
from bertlab.tokenizers.wordpiece.base import Tokenizer

sentencepiece = pytest.importorskip("sentencepiece")
pytestmark = pytest.mark.peers
DOCS = Path(__file__).parents[2] / "docs"
LINES = [line for path in sorted(DOCS.glob("*.md")) for line in path.read_text(encoding="utf-8").split("\n") if line]


def learned(folder):
    """Writes source.spm and target.spm; the name of each and its tokens, without the last 20."""
    for name, lines, size in (("source", LINES, 300), ("target", [line[::-1] for line in LINES], 250)):
        written = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=written, vocab_size=size, num_threads=1, minloglevel=2
        )
        (folder / f"{name}.spm").write_bytes(written.getvalue())
        processor = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
        yield name, [processor.id_to_piece(number) for number in range(3, size - 20)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder as published ones are: two models, one table without some tokens of both, a small random model."""
    folder = tmp_path_factory.mktemp("translation") / "model"
    folder.mkdir()
    tokens = ["</s>", "<unk>"]
    for _, pieces in learned(folder):
        tokens += pieces
    tokens = [*dict.fromkeys([*tokens, ">>fr<<", "<pad>"])]
    (folder / "vocab.json").write_text(json.dumps({token: number for number, token in enumerate(tokens)}))
    size, pad = len(tokens), len(tokens) - 1
    config = MarianConfig(vocab_size=size, hidden_size=16, num_layers=2, decoder_layers=2, num_heads=2,
                          intermediate_size=24, max_position_embeddings=64, pad_token_id=pad,
                          decoder_start_token_id=pad, initializer_range=0.3)  # fmt: skip
    checkpoints.save(models.SequenceToSequenceModel(config), folder)
    return folder


@pytest.fixture(scope="module")
def theirs(folder):
    return pytest.importorskip("transformers").MarianTokenizer.from_pretrained(folder)


def random_text(rng):
    text = rng.choice(LINES)[: rng.randrange(1, 80)]
    return rng.choice(["", "", ">>fr<<", ">>fr<< ", ">>xx<< "]) + rng.choice([text, f"{text}  é字🎉 ", "½ ﬁne\tend"])


def test_ids_and_texts_are_those_of_transformers(folder, theirs):
    own, rng = checkpoints.load_tokenizer(folder), random.Random(0)
    assert isinstance(own, Tokenizer) and own.vocabulary.sep_id == theirs.eos_token_id
    assert own.vocabulary.pad_id == theirs.pad_token_id and own.vocabulary.unk_id == theirs.unk_token_id
    for _ in range(1000):
        text = random_text(rng)
        assert [*own.encode(text), own.vocabulary.sep_id] == theirs(text)["input_ids"], repr(text)
        assert [*own.encode_target(text), own.vocabulary.sep_id] == theirs(text_target=text)["input_ids"], repr(text)
        ids = [rng.randrange(len(own.vocabulary)) for _ in range(rng.randrange(12))]
        ids = [number for number in ids if number != own.vocabulary.unk_id]  # shown here, left out there
        assert own.decode(ids) == theirs.decode(ids, skip_special_tokens=True), ids


def test_offsets_are_those_of_the_text_and_batches_equal_single_texts(folder):
    own = checkpoints.load_tokenizer(folder)
    text = ">>fr<< The masked language model predicts a word."
    found = own.encode_with_offsets(text)
    assert found.pieces[0] == ">>fr<<" and tuple(found.offsets[0]) == (0, 6)
    for piece, (start, end) in zip(found.pieces[1:], found.offsets[1:]):
        assert piece.removeprefix("▁") == text[start:end]
    batch = own.encode_batch(["a model", text])
    np.testing.assert_array_equal(batch.row(1), found.ids)


def test_a_saved_tokenizer_is_read_by_both_and_survives_a_process(folder, theirs, tmp_path):
    own = checkpoints.load_tokenizer(folder)
    own.save(tmp_path)
    for again in (TranslationTokenizer.load(tmp_path), pickle.loads(pickle.dumps(own))):
        assert again.vocabulary == own.vocabulary and again.encode(LINES[0]) == own.encode(LINES[0])
    assert type(theirs).from_pretrained(tmp_path)(LINES[0]) == theirs(LINES[0])


@pytest.mark.parametrize("beams", [1, 3])
def test_a_folder_translates_text_as_transformers_does_with_its_own_tokenizer(folder, theirs, beams):
    transformers = pytest.importorskip("transformers")
    model, own = checkpoints.load(folder), checkpoints.load_tokenizer(folder)
    texts, settings = ["A language model.", "What is a word?"], TranslationSettings(beams=beams, max_new_tokens=9)
    found = translate_text(model, own, texts, settings)
    ids = translate(model, theirs(texts)["input_ids"], settings)
    assert found == theirs.batch_decode(ids, skip_special_tokens=True)
    if beams == 1:
        peer = transformers.MarianMTModel.from_pretrained(folder)
        batch = theirs(texts, return_tensors="pt", padding=True)
        pads = [[peer.config.pad_token_id]]
        made = peer.generate(**batch, num_beams=1, do_sample=False, max_new_tokens=9, bad_words_ids=pads)
        assert found == theirs.batch_decode(made, skip_special_tokens=True)
    said = run("translate", folder, *texts, "--beams", beams, "--max-new-tokens", "9")
    assert said.splitlines() == [line for text in found for line in text.splitlines() or [""]]


def test_examples_of_pairs_have_targets_cut_by_the_model_of_targets(folder):
    own, pair = checkpoints.load_tokenizer(folder), ("A language model.", "ledom egaugnal A")
    rows = pair_rows([pair], own, pair_settings(40))
    for text, name, encode in zip(pair, ("input_ids", "target_ids"), (own.encode, own.encode_target)):
        ids = [*encode(text), own.vocabulary.sep_id]
        assert rows[name][0, : len(ids)].tolist() == ids
    assert own.encode(pair[1]) != own.encode_target(pair[1])


def test_what_cannot_be_read_is_named(folder, tmp_path):
    own = checkpoints.load_tokenizer(folder)
    own.save(tmp_path)
    (tmp_path / "target.spm").write_bytes(b"nonsense")
    with pytest.raises(VocabularyError, match="target.spm: is not a SentencePiece model"):
        checkpoints.load_tokenizer(tmp_path)
    (tmp_path / "vocab.json").write_text('{"a": 0}')
    with pytest.raises(VocabularyError, match="<pad>, <unk>, </s> is missing"):
        checkpoints.load_tokenizer(tmp_path)
