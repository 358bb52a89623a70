"""Low-rank adapters: they begin without effect, they alone are trained, and the saved model has them in its kernels."""

import functools

import keras
import numpy as np
import pytest
from finetuning_case import CONFIG, RECIPE, finetuned, task_of
from killing import killer_after
from refusals import refused

from bertlab import checkpoints
from bertlab.checkpoints.kinds import variables_of
from bertlab.common.errors import ConfigError
from bertlab.families import family, model_types
from bertlab.models import SequenceClassifier
from bertlab.models.outline import parameter_count
from bertlab.predict import Predictor
from bertlab.training.devices.memory import memory_needs
from bertlab.training.finetuning.adapters import adapters_of, add_adapters, merged, put_merged, train_adapters_alone
from bertlab.training.finetuning.settings import Recipe

LORA = RECIPE.replace(lora_rank=4, lora_alpha=8.0, epochs=2)
INPUTS = {"input_ids": np.array([[2, 5, 7, 8, 3], [2, 6, 7, 3, 0]])}


def classifier(config=CONFIG):
    keras.utils.set_random_seed(3)
    return SequenceClassifier(config, 2)


def values(model):
    return {path: np.array(variable) for path, variable in variables_of(model).items()}


def small_config(name):
    sizes = {"vocab_size": 20, "hidden_size": 16, "num_layers": 2, "num_heads": 2, "intermediate_size": 32,
             "max_position_embeddings": 32}  # fmt: skip
    return family(name).config(**sizes)


@pytest.mark.parametrize("name", [name for name in model_types() if not family(name).both_directions])
def test_adapters_have_no_effect_at_first_and_merged_they_compute_the_same(name):
    config = small_config(name)
    model = classifier(config)
    before = np.array(model(INPUTS))
    add_adapters(model, 3, alpha=6.0)
    np.testing.assert_array_equal(np.array(model(INPUTS)), before)

    rng = np.random.default_rng(1)
    assert adapters_of(model)
    for variable in adapters_of(model):
        variable.assign(rng.normal(size=variable.shape))
    own = np.array(model(INPUTS))
    assert np.abs(own - before).max() > 1e-3
    plain = merged(model, classifier(config))
    np.testing.assert_allclose(np.array(plain(INPUTS)), own, atol=2e-5)
    put_merged(model, plain)
    np.testing.assert_allclose(np.array(model(INPUTS)), own, atol=2e-5)


def test_a_merged_kernel_is_the_kernel_and_alpha_by_rank_of_the_product():
    model = classifier()
    add_adapters(model, 2, alpha=6.0)
    layer = model.backbone.encoder.layers_[0].attention.value
    before = values(model)["backbone/encoder/layer_0/attention/value/kernel"]
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(16, 2)), rng.normal(size=(2, 16))
    layer.lora_kernel_a.assign(a)
    layer.lora_kernel_b.assign(b)
    after = values(merged(model, classifier()))["backbone/encoder/layer_0/attention/value/kernel"]
    np.testing.assert_allclose(after, before + 3 * a @ b, rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_only_queries_values_and_the_head_change_and_the_folder_is_an_ordinary_model(checkpoint, tmp_path):
    result = finetuned(checkpoint, task_of("sentence"), tmp_path, LORA.replace(epochs=6))
    assert result.dev["accuracy"] > 0.9
    before = values(checkpoints.load(checkpoint, "pretraining"))
    model = checkpoints.load(tmp_path, "sequence_classification")
    after = values(model)
    assert not [path for path in after if "lora" in path]
    changed = {path for path in after if path not in before or np.any(after[path] != before[path])}
    kernels = {f"backbone/encoder/layer_{i}/attention/{name}/kernel" for i in (0, 1) for name in ("query", "value")}
    assert changed == kernels | {"head/dense/kernel", "head/dense/bias"}
    rank = np.linalg.matrix_rank(after[min(kernels)] - before[min(kernels)], tol=1e-4)
    assert 1 <= rank <= 4
    predicted = Predictor.load(tmp_path).predict_rows(task_of("sentence").validation)
    rows = task_of("sentence").validation
    assert np.mean([one.label == ("negative", "positive")[row.label] for one, row in zip(predicted, rows)]) > 0.9


@pytest.mark.slow
def test_the_number_of_trained_weights_is_reported(checkpoint, tmp_path):
    said = []
    finetuned(checkpoint, task_of("sentence"), tmp_path, LORA.replace(epochs=1), say=said.append)
    total = sum(array.size for array in values(checkpoints.load(tmp_path, "sequence_classification")).values())
    added = 2 * 2 * (16 * 4 + 4 * 16)  # layers, queries and values, A and B
    line = next(line for line in said if line.startswith("adapters of rank 4 on 4 kernels have"))
    assert f"have {added:,} weights; with the head {added + 34:,} of {total + added:,} are trained" in line


def test_a_new_pooler_is_trained_with_the_head():
    model = classifier()
    add_adapters(model, 2)
    train_adapters_alone(model, [path for path in values(model) if "pooler" not in path])
    trained = {variable.path for variable in model.trainable_variables}
    assert {path for path in trained if "lora" not in path} == {
        "head/dense/kernel", "head/dense/bias", "backbone/pooler/dense/kernel", "backbone/pooler/dense/bias",
    }  # fmt: skip
    assert len(trained) == 4 + 4


@pytest.mark.slow
def test_a_killed_run_with_adapters_resumes_with_the_same_bytes(checkpoint, check_restart):
    train = functools.partial(finetuned, checkpoint, task_of("sentence"), recipe=LORA.replace(interval=4))
    check_restart(train, killer_after(6), "resumes from step 4 of 12")


def test_what_makes_no_sense_is_refused():
    refused("got 8 without lora_rank", Recipe, lora_alpha=8.0, error=ConfigError)
    refused("exclude each other", Recipe, lora_rank=4, frozen_layers=1, error=ConfigError)
    assert (LORA.of_scratch.lora_rank, LORA.of_scratch.lora_alpha) == (None, None)  # every weight is trained
    with pytest.raises(ConfigError, match="expected at most 16, the rank of backbone/.*query; got 17"):
        add_adapters(classifier(), 17)


def test_frozen_weights_need_no_memory_for_their_gradients_and_moments():
    all_of_it, adapters = (memory_needs(CONFIG, 8, 16, None, "float32", frozen=frozen) for frozen in (False, True))
    assert all_of_it.weights - adapters.weights == 12 * parameter_count(CONFIG)
    assert all_of_it.activations == adapters.activations
