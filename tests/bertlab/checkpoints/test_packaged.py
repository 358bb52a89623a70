"""bertlab-mini, the checkpoint that every installation carries: what it is, that it loads, that it knows English."""

import json
import string

import pytest
from bertlab_command import run

from bertlab import checkpoints
from bertlab.analysis.fill_mask import fill_mask
from bertlab.common.errors import CheckpointError

FOLDER = checkpoints.packaged("bertlab-mini")

# Everyday words that only the rest of the sentence tells.
BLANKS = {
    "She opened the [MASK] and went in.": "door",
    "He sat down in the [MASK] by the fire.": "chair",
    "I do not know what to [MASK].": "do",
    "He shook his [MASK] slowly.": "head",
    "It was nearly ten o ' [MASK] in the morning.": "clock",
    "Mr. and [MASK]. Brown were at home.": "mrs",
    "She burst into [MASK] and could not speak.": "tears",
    "He looked at her for a [MASK] without speaking.": "moment",
    "Good [MASK], sir, said the old man.": "morning",
    "The function returns a [MASK] of strings.": "list",
}


@pytest.fixture(scope="module")
def model():
    return checkpoints.load("bertlab-mini", "pretraining")


def test_every_character_of_ascii_has_a_token():
    vocabulary = checkpoints.load_tokenizer("bertlab-mini").vocabulary
    assert [character for character in string.printable.lower().strip() if character not in vocabulary.pieces] == []


def test_it_is_a_bert_of_published_format_and_small_enough_to_carry():
    config = json.loads((FOLDER / "config.json").read_text(encoding="utf-8"))
    assert config["model_type"] == "bert" and config["vocab_size"] == 12288
    assert (config["num_hidden_layers"], config["hidden_size"]) == (4, 256)
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) < 14_000_000


def test_it_fills_everyday_blanks(model):
    tokenizer = checkpoints.load_tokenizer("bertlab-mini")
    found = [word in [guess.piece for guess in fill_mask(model, tokenizer, text)[0]] for text, word in BLANKS.items()]
    assert sum(found) >= 7


def test_a_folder_of_that_name_goes_first(tmp_path, monkeypatch):
    (tmp_path / "bertlab-mini").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CheckpointError, match="no checkpoint here"):
        checkpoints.load("bertlab-mini")


def test_another_name_is_refused_with_those_there_are():
    with pytest.raises(CheckpointError, match="bertlab-mini"):
        checkpoints.packaged("bertlab-maxi")


@pytest.mark.exhaustive
def test_on_held_out_text_it_is_far_above_guessing_by_frequency(tmp_path):
    rows = tmp_path / "rows"
    made = ["data", "make", "builtin", "--vocab", FOLDER / "vocab.txt", "--split", "validation", "--out", rows]
    run(*made, "--sequence-length", "128", "--duplicate-factor", "1")
    figures = json.loads(run("evaluate", "bertlab-mini", "--data", rows, "--rows", "512", "--json"))
    assert figures["masked_lm_accuracy"] > figures["unigram_accuracy"] + 0.31
    assert figures["masked_lm_loss"] < figures["unigram_loss"] - 2.7
    assert figures["next_sentence_accuracy"] > 0.8
