"""Pre-training an ELMo on both neighbours of every token: targets, runs, resuming, evaluation, vectors, fine-tuning."""

import numpy as np
import pytest
from bertlab_command import run
from click.testing import CliRunner
from pretraining_case import CONFIG, check_resuming, make_examples, pretrained

from bertlab import checkpoints, families, models
from bertlab.analysis.vectors import encode_texts
from bertlab.cli import cli
from bertlab.common.errors import ConfigError
from bertlab.data.pretraining.collators import NextAndPreviousTokens
from bertlab.layers.characters import characters_of_vocabulary

ELMO = families.family("elmo").config(
    vocab_size=CONFIG.vocab_size, hidden_size=16, num_layers=2, intermediate_size=12, max_position_embeddings=32,
    filters=((1, 8), (2, 8)), num_highway=1, max_characters=8, character_size=4,
)  # fmt: skip


# === Targets ===


def test_the_targets_are_both_neighbours_in_the_same_text():
    rows = {
        "input_ids": np.array([[2, 4, 11, 3, 2, 9, 3, 0]], "int32"),
        "sequence_ids": np.array([[1, 1, 1, 1, 2, 2, 2, 0]], "int32"),
        "next_sentence_labels": np.array([0]),
    }
    made = NextAndPreviousTokens()(rows, 0)
    ids, weights = made["neighbour_ids"], made["neighbour_weights"]
    assert ids[0, :, 0].tolist() == [4, 11, 3, 0, 9, 3, 0, 0]
    assert ids[0, :, 1].tolist() == [0, 2, 4, 11, 0, 2, 9, 0]
    assert weights[0, :, 0].tolist() == [1, 1, 1, 0, 1, 1, 0, 0]
    assert weights[0, :, 1].tolist() == [0, 1, 1, 1, 0, 1, 1, 0]
    assert "next_sentence_labels" not in made and "next_token_ids" not in made
    assert made["input_ids"].tolist() == rows["input_ids"].tolist()


def test_masks_are_undone():
    rows = {
        "input_ids": np.array([[2, 4, 3]], "int32"), "attention_mask": np.ones((1, 3), "int32"),
        "masked_lm_positions": np.array([[1, 0]]), "masked_lm_ids": np.array([[9, 0]]),
        "masked_lm_weights": np.array([[1, 0]]),
    }  # fmt: skip
    made = NextAndPreviousTokens()(rows, 0)
    assert made["input_ids"].tolist() == [[2, 9, 3]] and made["neighbour_ids"][0, :, 0].tolist() == [9, 3, 0]


# === Runs ===


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return make_examples(tmp_path_factory.mktemp("data") / "rows", number=12, next_sentence=False)


@pytest.fixture(scope="module")
def finished(data):
    return data.parent / "run", pretrained(ELMO, data, data.parent / "run", steps=60, interval=10, learning_rate=4e-2)


@pytest.mark.slow
def test_a_finished_run_has_learned_both_neighbours_and_knows_its_tokens(finished):
    folder, history = finished
    names = {f"{prefix}both_directions_{figure}" for prefix in ("", "val_") for figure in ("loss", "accuracy")}
    assert names <= history[-1].keys()
    assert not any("masked_lm" in name or "next_sentence" in name for name in history[-1])
    assert history[-1]["val_both_directions_loss"] < 1.8 < 2.7 < history[0]["both_directions_loss"]
    model = checkpoints.load(folder / "checkpoint")
    assert type(model) is models.PreTrainingModel and model.config == ELMO
    vocabulary = checkpoints.load_tokenizer(folder / "checkpoint").vocabulary
    expected = characters_of_vocabulary(vocabulary, 8)
    np.testing.assert_array_equal(np.asarray(model.backbone.embeddings.character_ids), expected)
    assert (folder / "curve.png").exists()


@pytest.mark.slow
def test_a_run_that_was_stopped_resumes_to_the_same_bytes(data, tmp_path):
    pretrained(ELMO, data, tmp_path / "whole")
    check_resuming(ELMO, data, tmp_path / "stopped", tmp_path / "whole", "checkpoint/bertlab.safetensors")


@pytest.mark.slow
def test_an_update_in_parts_has_the_same_losses(data, tmp_path):
    config = ELMO.replace(hidden_dropout=0.0)
    whole = pretrained(config, data, tmp_path / "whole")
    parts = pretrained(config, data, tmp_path / "parts", accumulation=2)
    for one, other in zip(whole, parts, strict=True):
        assert one["both_directions_loss"] == pytest.approx(other["both_directions_loss"], rel=1e-3)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"objective": "masked-lm"}, "objective masked-lm is not for a model of elmo, which predicts both neighbours"),
        ({"objective": "replaced-tokens"}, "objective replaced-tokens is not for a model of elmo"),
        ({"optimizer": "muon"}, "optimizer muon is for the matrices of a transformer: choose adamw"),
    ],
)
def test_settings_of_other_models_are_refused_before_the_start(changes, message, data, tmp_path):
    with pytest.raises(ConfigError, match=message):
        pretrained(ELMO, data, tmp_path / "run", **changes)
    assert not (tmp_path / "run").exists()


# === Commands on the finished model ===


@pytest.mark.slow
def test_commands_read_the_finished_model(finished, data):
    checkpoint = finished[0] / "checkpoint"
    assert '"both_directions_perplexity"' in run("evaluate", checkpoint, "--data", data, "--rows", "16", "--json")
    assert "character CNN" in run("summary", checkpoint)
    refused = CliRunner().invoke(cli, ["fill-mask", "--model", str(checkpoint), "the [MASK] sees a cat"])
    assert refused.exit_code == 1 and "nothing at [MASK]" in str(refused.exception)


@pytest.mark.slow
def test_vectors_of_words_depend_on_both_sides(finished, tmp_path):
    checkpoint = finished[0] / "checkpoint"
    encoder, tokenizer = checkpoints.load(checkpoint, "encoder"), checkpoints.load_tokenizer(checkpoint)
    for layer, depends in ((0, False), (1, True), (2, True)):
        one, other, empty = encode_texts(
            encoder, tokenizer, ["the cat sees a dog", "the cat hears a dog", ""], layer=layer, pooling="none"
        )
        assert one.shape == (7, 16) and empty.shape == (2, 16)
        assert (np.abs(one[2] - other[2]).max() > 1e-6) == depends  # "cat"
