"""Every family of models can be looked into, with its own layers, masks and heads."""

import keras
import numpy as np
import pytest
from tiny_model import SIZES, tiny_tokenizer

from bertlab import families
from bertlab.analysis.gating import gated_heads, without_each_head
from bertlab.analysis.inspection import inspect_model
from bertlab.analysis.lens import lens_probabilities
from bertlab.analysis.patching import logit_difference, patch_each
from bertlab.analysis.readings import read_text
from bertlab.models import PreTrainingModel

TEXTS = "the [MASK] robin", "a [MASK] robin"


ATTENDING = [name for name in families.model_types() if not families.family(name).both_directions]


@pytest.fixture(scope="module", params=ATTENDING)
def model(request):
    keras.utils.set_random_seed(3)
    config = families.family(request.param).config
    changes = {"pad_token_id": 0} if config().pad_token_id >= SIZES["vocab_size"] else {}
    return PreTrainingModel(config(**SIZES, initializer_range=0.5, **changes))


def last_states(model, reading):
    inputs = {"input_ids": reading.ids[None], "token_type_ids": reading.segments[None]}
    return np.array(model.backbone(inputs)["sequence_output"])


def test_the_lens_of_the_last_layer_is_the_prediction(model):
    reading = read_text(model.backbone, tiny_tokenizer(), TEXTS[0])
    assert reading.attention.sum(axis=-1) == pytest.approx(1, abs=1e-5)
    assert np.allclose(reading.states[-1], last_states(model, reading)[0], atol=1e-5)
    logits = model({"input_ids": reading.ids[None], "token_type_ids": reading.segments[None]})["masked_lm_logits"]
    expected = np.array(keras.ops.softmax(logits))[0]
    assert np.allclose(lens_probabilities(model, reading.states)[-1], expected, atol=1e-4)


def test_the_first_layers_only_difference_and_the_last_ones_blank_have_the_whole_effect(model):
    tokenizer = tiny_tokenizer()
    metric = logit_difference(model, tokenizer, 2, "is", "are")
    result = patch_each(model.backbone, tokenizer, *TEXTS, metric)
    assert result.fractions[0] == pytest.approx([0, 1, 0, 0, 0], abs=0.01)
    assert result.fractions[-1] == pytest.approx([0, 0, 1, 0, 0], abs=0.01)
    assert patch_each(model.backbone, tokenizer, *TEXTS, metric).values == pytest.approx(result.values)


def test_heads_are_removed_and_put_back(model):
    reading = read_text(model.backbone, tiny_tokenizer(), TEXTS[0])
    before = last_states(model, reading)
    changes = without_each_head(model.backbone, lambda: np.abs(last_states(model, reading) - before).max())
    assert (changes > 1e-3).all() and np.array_equal(last_states(model, reading), before)
    attention = model.backbone.encoder.layers_[0].attention
    with gated_heads(model.backbone, np.zeros(changes.shape)):
        assert not np.array(attention.out.kernel).any()


def test_the_page_has_every_part(model):
    inspection = inspect_model(model, tiny_tokenizer(), TEXTS)
    assert inspection["notes"] == [] and len(inspection["heads"]) == 4
    assert [len(text["lens"]) for text in inspection["texts"]] == [3, 3]
