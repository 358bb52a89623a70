"""An ELMo on labelled tasks: the baseline that reads a frozen one, fine-tuning all of it, and what is refused.

Sizes: the tokens of `finetuning_case`, L 2 layers of H 16. Some word gives each answer away, so that a model without
pre-training learns it.
"""

import json

import keras
import numpy as np
import pytest
from bertlab_command import run
from finetuning_case import RECIPE, TOKENIZER, save_checkpoint, task_of
from refusals import refused

from bertlab import checkpoints, families, models
from bertlab.common.errors import CheckpointError, ConfigError
from bertlab.predict import Predictor, evaluate
from bertlab.training.baselines.settings import BaselineSettings
from bertlab.training.finetuning import finetune, train_baseline

CONFIG = families.family("elmo").config(
    vocab_size=20, hidden_size=16, num_layers=2, intermediate_size=12, max_position_embeddings=32,
    filters=((1, 8), (2, 8)), num_highway=1, max_characters=8, character_size=4, hidden_dropout=0.0,
)  # fmt: skip
HEADS = RECIPE.replace(learning_rate=3e-2, epochs=25)
SIZES = BaselineSettings(units=8, head_dropout=0.0)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    keras.utils.set_random_seed(1)
    model = models.PreTrainingModel(CONFIG)
    model.backbone.read_vocabulary(TOKENIZER.vocabulary)
    projection = model.backbone.embeddings.characters.projection.kernel
    projection.assign(40 * keras.ops.convert_to_numpy(projection))  # as after some training: tokens differ clearly
    return checkpoints.save(model, tmp_path_factory.mktemp("frozen") / "elmo", TOKENIZER, format="bertlab")


@pytest.fixture(scope="module")
def tagged(checkpoint, tmp_path_factory):
    folder, task = tmp_path_factory.mktemp("tagged") / "out", task_of("tagging")
    return folder, task, train_baseline("elmo", task, folder, HEADS, SIZES, model=checkpoint)


@pytest.mark.slow
def test_the_baseline_is_a_bilstm_on_the_mix_of_all_layers_of_the_frozen_model(tagged, checkpoint):
    folder, task, result = tagged
    assert result.dev["f1"] > 0.9
    head = json.loads((folder / "features.json").read_text())
    assert (head["layers"], head["combine"], head["head"], head["units"]) == ([0, 1, 2], "mix", "bilstm", 8)
    before, kept = (checkpoints.load(path, "encoder") for path in (checkpoint, folder / "encoder"))
    assert all(np.array_equal(one, other) for one, other in zip(before.get_weights(), kept.get_weights()))


@pytest.mark.slow
def test_its_folder_predicts_what_was_evaluated(tagged):
    folder, task, result = tagged
    predictor = Predictor.load(folder)
    assert evaluate(predictor, task.validation).metrics == pytest.approx(result.dev)
    (tags,) = predictor([("it", "was", "paris", ".")])
    assert tags.tags == ["O", "O", "B-CITY", "O"]


@pytest.mark.slow
@pytest.mark.parametrize("shape", ["sentence", "multiple-choice"])
def test_all_of_it_is_fine_tuned_too(shape, checkpoint, tmp_path):
    result = finetune(checkpoint, task_of(shape), tmp_path, RECIPE.replace(learning_rate=1e-2, epochs=16))
    assert result.dev["accuracy"] > 0.8
    tuned, begun = (checkpoints.load(path, "encoder") for path in (tmp_path, checkpoint))
    same = {
        one.path: np.array_equal(one, other) for one, other in zip(tuned.weights, begun.weights)
    }  # every trained part moves, the table of characters stays
    assert [path for path, is_same in same.items() if is_same] == ["backbone/embeddings/character_ids"]


@pytest.mark.slow
def test_from_scratch_the_characters_are_still_those_of_the_vocabulary(checkpoint, tmp_path):
    finetune(checkpoint, task_of("sentence"), tmp_path, RECIPE.replace(epochs=1, from_scratch=True))
    kept, begun = (checkpoints.load(path, "encoder").embeddings.character_ids for path in (tmp_path, checkpoint))
    np.testing.assert_array_equal(kept, begun)


# === What is refused ===


def test_without_a_model_of_the_family_the_error_shows_how_to_make_one(tmp_path):
    other, nothing = save_checkpoint(tmp_path / "bert"), tmp_path / "nothing"
    for model, error, message in (
        (None, ConfigError, "expected a checkpoint of the family elmo .*, got none; pre-train one with .bertlab"),
        (other, ConfigError, "got .*bert, which is of the family bert; pre-train one with .*elmo-small"),
        (nothing, CheckpointError, "nothing: there is no such folder or checkpoint"),
    ):
        task = task_of("tagging")
        refused(message, train_baseline, "elmo", task, tmp_path / "out", HEADS, model=model, error=error)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("elmo", {"tokenizer": "bertlab-mini"}, "elmo reads the tokens of its model; leave out tokenizer"),
        ("elmo", {"word_vectors": "words.txt"}, "elmo reads the tokens of its model; leave out word_vectors"),
        ("lstm", {}, "baseline lstm is trained without a pre-trained model: leave out the model"),
    ],
)
def test_options_that_a_baseline_does_not_read_are_refused(kind, options, message, checkpoint, tmp_path):
    with pytest.raises(ConfigError, match=message):
        train_baseline(kind, task_of("tagging"), tmp_path / "out", HEADS, model=checkpoint, **options)


@pytest.mark.slow
def test_the_command_trains_it_and_refuses_what_has_no_effect(checkpoint, tmp_path):
    rows = ["text,label", *(f"the film was {('bad', 'good')[i % 2]} {i},{('no', 'yes')[i % 2]}" for i in range(24))]
    (tmp_path / "tone.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    command = ["train-baseline", str(tmp_path / "tone.csv"), "--validation-share", "0.25", "--kind", "elmo"]
    command += ["--out", str(tmp_path / "out"), "--epochs", "2"]
    run(*command, "--model", checkpoint, "--units", "8")
    assert f'model = "{checkpoint}"' in (tmp_path / "out/command.toml").read_text(encoding="utf-8")
    refused("elmo-small", run, *command, error=ConfigError)
    words = run(*command, "--model", checkpoint, "--word-size", "8", code=2)
    assert "--word-size has no effect with --kind elmo" in words
