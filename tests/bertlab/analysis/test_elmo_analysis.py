"""A look into an ELMo and its scores of sentences: what needs neither attention nor [MASK]."""

import json
import re

import keras
import numpy as np
import pytest
from bertlab_command import run
from click.testing import CliRunner
from layer_case import randomise
from tiny_model import tiny_model

from bertlab import checkpoints, families, models
from bertlab.analysis.inspection import inspect_model, write_page
from bertlab.analysis.lens import lens_probabilities
from bertlab.analysis.minimal_pairs import read_pairs, score_pairs
from bertlab.analysis.pseudo_likelihood import directions_log_likelihood, sentence_scores
from bertlab.analysis.readings import read_text
from bertlab.analysis.senses import SenseExample
from bertlab.cli import cli
from bertlab.common.errors import ConfigError, DataError
from bertlab.data.treebanks import ParsedSentence

TEXTS = ["the bank of a river.", "banks", "a robineds is a birds.", "the river"]
TREEBANK = [ParsedSentence(("the", "bank"), ("DET", "NOUN"), (1, -1), ("det", "root"))]
PAIR = {"sentence_good": "the bird is a robin.", "sentence_bad": "the bird are a robin.", "UID": "agreement"}


@pytest.fixture(scope="module")
def model(tokenizer):
    config = families.family("elmo").config(
        vocab_size=17, hidden_size=8, num_layers=2, intermediate_size=6, max_position_embeddings=12, max_characters=8,
        character_size=3, filters=((1, 4), (3, 5)), num_highway=1,
    )  # fmt: skip
    model = models.PreTrainingModel(config)
    randomise(model)
    model.backbone.read_vocabulary(tokenizer.vocabulary)
    return model


@pytest.fixture(scope="module")
def checkpoint(model, tokenizer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "small"
    checkpoints.save(model, folder, tokenizer, format="bertlab")
    return folder


# === Scores of sentences ===


def predicted(model, ids, place, direction):
    """The log-probabilities at one place of a row of its own, (V,) float64: direction 0 is the next token."""
    logits = keras.ops.convert_to_numpy(model({"input_ids": np.array([ids])})["masked_lm_logits"])
    logits = logits[0, place, direction].astype("float64")
    return logits - np.log(np.exp(logits).sum())


def by_hand(model, tokenizer, text):
    """Each token from a row that ends before it, and from a row that begins behind it."""
    pieces = tokenizer.tokenize(text)
    ids = [2, *(tokenizer.vocabulary.index(piece) for piece in pieces), 3]
    left = sum(predicted(model, ids[:i], -1, 0)[ids[i]] for i in range(1, len(ids) - 1))
    right = sum(predicted(model, ids[i + 1 :], 0, 1)[ids[i]] for i in range(1, len(ids) - 1))
    return left + right


@pytest.mark.parametrize("batch_size", [1, 20, 256])
def test_a_sentence_has_the_sum_of_both_directions(model, tokenizer, batch_size):
    sums = directions_log_likelihood(model, tokenizer, TEXTS, batch_size=batch_size)
    assert sums == pytest.approx([by_hand(model, tokenizer, text) for text in TEXTS], abs=1e-4)
    assert sentence_scores(model, tokenizer, TEXTS) == pytest.approx(sums, abs=1e-4)


@pytest.mark.parametrize(
    ("texts", "message"),
    [(["the", ""], "text 2: expected at least one token"), (["the " * 11], "text 1: expected at most 12 tokens")],
)
def test_a_text_that_cannot_be_scored_is_named(model, tokenizer, texts, message):
    with pytest.raises(DataError, match=message):
        directions_log_likelihood(model, tokenizer, texts)


def test_masks_are_for_the_other_models(model, tokenizer):
    with pytest.raises(DataError, match="masking 'word-left-to-right': a model of elmo predicts each token from its"):
        sentence_scores(model, tokenizer, TEXTS, masking="word-left-to-right")
    with pytest.raises(ConfigError, match="a model of bert does not predict both neighbours of a token"):
        directions_log_likelihood(tiny_model(), tokenizer, TEXTS)


def test_the_command_scores_minimal_pairs_and_keeps_them(model, tokenizer, checkpoint, tmp_path):
    file, out = tmp_path / "pairs.jsonl", tmp_path / "scores"
    file.write_text(json.dumps(PAIR) + "\n", encoding="utf-8")
    words = ["minimal-pairs", str(file), str(checkpoint), "--out", str(out), "--json"]
    result = CliRunner().invoke(cli, words, catch_exceptions=False)
    good, bad = score_pairs(model, tokenizer, read_pairs(file))[0]
    assert json.loads(result.stdout)[-1]["right"] == int(good > bad)
    assert f"{good:.4f},{bad:.4f}" in (out / "pairs.csv").read_text(encoding="utf-8")
    assert good == pytest.approx(by_hand(model, tokenizer, PAIR["sentence_good"]), abs=1e-4)


# === The page ===


def test_the_lens_of_the_last_layer_is_the_prediction_of_both_neighbours(model, tokenizer):
    reading = read_text(model.backbone, tokenizer, TEXTS[0])
    logits = keras.ops.convert_to_numpy(model({"input_ids": reading.ids[None]})["masked_lm_logits"])[0]  # (T, 2, V)
    expected = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
    probabilities = lens_probabilities(model, reading.states)
    assert probabilities.shape == (3, *expected.shape)
    np.testing.assert_allclose(probabilities[-1], expected, atol=1e-5)
    text = inspect_model(model, tokenizer, TEXTS)["texts"][0]
    for lens, direction in ((text["lens"], 0), (text["lens_before"], 1)):
        assert [len(lens), len(lens[0]), len(lens[0][0])] == [3, len(reading.ids), 5]
        best = expected[:, direction].argmax(axis=-1)
        assert [guesses[0][0] for guesses in lens[-1]] == [tokenizer.vocabulary.pieces[i] for i in best]
        values = [guesses[0][1] for guesses in lens[-1]]
        assert values == pytest.approx(expected[:, direction].max(axis=-1), abs=1e-4)


def test_the_page_leaves_attention_out_and_gives_the_reason(model, tokenizer, tmp_path):
    senses = [SenseExample.marked(*pair) for pair in [("x", "the *bank*"), ("x", "a *bank*"), ("y", "*bank* is")]]
    inspection = inspect_model(model, tokenizer, TEXTS, name="small", senses=senses, treebank=TREEBANK)
    assert inspection["heads"] == [] and inspection["relations"] == []
    assert inspection["facts"]["layers"] == 2 and len(inspection["senses"]["layers"]) == 3
    assert inspection["senses"]["layers"][0]["accuracy"] == pytest.approx(1 / 3)  # three equal vectors: a guess
    write_page(tmp_path / "page.html", inspection)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "This model has no attention" in page and "the treebank is not read" in page
    assert "0 heads" not in page
    ids = set(re.findall(r'<\w+[^>]* id="([\w-]+)"', page))
    assert {"tokens", "lens", "lens_before", "senses"} <= ids
    assert not ids & {"lines", "from", "to", "heads", "heads-table", "relations"}


def test_the_command_reads_a_text_without_a_mask(checkpoint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "This model has no attention" in run("inspect", checkpoint)
    page = (tmp_path / "inside.html").read_text(encoding="utf-8")
    assert "He opened the door" in page and "[MASK]" not in page.partition("<script")[0]
