"""ELECTRA's published models: the discriminator's head, its path into fine-tuning, and its checkpoint folders.

Parity: tests/peers/test_parity.py (generator), tests/peers/test_today_peers.py (discriminator and heads).
"""

import json

import numpy as np
import pytest
from bertlab_command import run
from checkpoint_files import edit_config, same_weights, tokenizer, weights

from bertlab import checkpoints, families, models
from bertlab.checkpoints.kinds import variables_of
from bertlab.common.errors import CheckpointError, ConfigError

SMALL = dict(vocab_size=61, hidden_size=16, num_layers=2, num_heads=2, intermediate_size=24, max_position_embeddings=32)
IDS = np.array([[2, 17, 40, 9, 3], [2, 8, 3, 0, 0]], "int32")
MASK = (IDS != 0).astype("int32")


def config(width=8):
    return families.family("electra").config(**SMALL, embedding_size=width)


@pytest.mark.parametrize("width", [8, 16])
def test_tables_of_the_encoders_width_have_no_projection(width):
    model = models.ReplacedTokenDetector(config(width))
    assert any("projection" in path for path in variables_of(model)) == (width != 16)


def test_every_token_gets_a_score_and_padding_changes_none():
    model = models.ReplacedTokenDetector(config())
    scores = np.asarray(model({"input_ids": IDS, "attention_mask": MASK}))
    assert scores.shape == (2, 5)
    np.testing.assert_allclose(scores[1, :3], np.asarray(model({"input_ids": IDS[1:, :3]}))[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["sequence_classification", "multiple_choice"])
def test_a_discriminator_is_fine_tuned_with_a_new_head_and_pooler(kind, tmp_path):
    model = models.ReplacedTokenDetector(config())
    folder = checkpoints.save(model, tmp_path / "saved")
    assert json.loads((folder / "config.json").read_text())["architectures"] == ["ElectraForPreTraining"]
    classifier = checkpoints.load(folder, kind, fresh_head=True)
    new = {"backbone/pooler/dense/kernel", "backbone/pooler/dense/bias", "head/dense/kernel", "head/dense/bias"}
    assert set(classifier.load_report.initialised) == new
    assert {path.split("/")[0] for path in classifier.load_report.unused} == {"detection_head"}


def test_the_head_of_a_folder_shows_whether_it_is_generator_or_discriminator(tmp_path):
    for name, its_class in (("one", models.ReplacedTokenDetector), ("other", models.PreTrainingModel)):
        model = its_class(config())
        loaded = checkpoints.load(checkpoints.save(model, tmp_path / name))
        assert type(loaded) is its_class and same_weights(weights(model), weights(loaded))
    with pytest.raises(CheckpointError, match="does not fit PreTrainingModel: missing: masked_lm_head"):
        checkpoints.load(tmp_path / "one", "pretraining")


def test_a_folder_that_summarizes_in_another_way_is_refused(tmp_path):
    checkpoints.save(models.ReplacedTokenDetector(config()), tmp_path)
    edit_config(tmp_path, summary_type="mean")
    with pytest.raises(ConfigError, match="summary_type 'mean' is not supported"):
        checkpoints.load(tmp_path)


def test_a_family_without_such_a_model_is_saved_in_our_format_alone(tmp_path):
    model = models.ReplacedTokenDetector(families.family("bert").config(**SMALL))
    with pytest.raises(CheckpointError, match="have no detection_head.*format='bertlab'"):
        checkpoints.save(model, tmp_path / "theirs")
    loaded = checkpoints.load(checkpoints.save(model, tmp_path / "ours", format="bertlab"))
    assert same_weights(weights(model), weights(loaded))


@pytest.mark.slow
def test_commands_read_a_discriminators_folder(tmp_path):
    checkpoints.save(models.ReplacedTokenDetector(config()), tmp_path / "model", tokenizer())
    rows = "\n".join(f"{word} {word},{label}" for word, label in zip("abcdefghijklmnop", "xy" * 8))
    (tmp_path / "rows.csv").write_text("text,label\n" + rows + "\n")
    assert "embedding projection" in run("summary", tmp_path / "model")
    run("finetune", tmp_path / "rows.csv", "--model", tmp_path / "model", "--out", tmp_path / "run", "--epochs", "1",
        "--validation-share", "0.25", "--max-length", "16", "--batch-size", "8")  # fmt: skip
    (tmp_path / "lines.txt").write_text("a b\n")
    assert run("predict", tmp_path / "run", tmp_path / "lines.txt").strip()
