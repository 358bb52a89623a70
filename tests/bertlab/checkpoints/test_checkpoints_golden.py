"""A loaded checkpoint computes what transformers' PyTorch computed with it, outputs and gradients."""

import numpy as np
import pytest
from checkpoint_files import GOLDEN, NAMES, expected, golden_inputs

from bertlab.checkpoints import load
from bertlab.checkpoints.kinds import variables_of
from bertlab.families import family

OUTPUTS = ("hidden_states", "attentions", "pooled_output", "masked_lm_logits", "next_sentence_logits")
LONGEST = 16


@pytest.fixture(scope="module", params=NAMES)
def golden(request):
    return load(GOLDEN / request.param), expected(request.param)


@pytest.mark.parametrize("num_tokens", [1, 5, LONGEST])
def test_every_output_is_within_1e_5_of_the_reference(golden, num_tokens):
    model, arrays = golden
    outputs = model(golden_inputs(arrays, num_tokens), return_all=True)
    for name in OUTPUTS:
        found = np.stack(outputs[name]) if isinstance(outputs[name], list) else np.asarray(outputs[name])
        reference = arrays[f"{num_tokens}/output/{name}"]
        assert found.shape == reference.shape, name
        assert np.abs(found - reference).max() <= 1e-5 * max(1, np.abs(reference).max()), name


def loss_of(model, arrays, num_tokens):
    """The reference's loss: mean over the labelled tokens, and mean over the rows."""
    import tensorflow as tf

    outputs = model(golden_inputs(arrays, num_tokens))
    labels = arrays[f"{num_tokens}/input/labels"]
    row, position = np.nonzero(labels >= 0)
    logits = tf.gather_nd(outputs["masked_lm_logits"], np.stack([row, position], axis=1))  # (labelled, V)
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits
    masked_lm = tf.reduce_mean(cross_entropy(labels=labels[row, position], logits=logits))
    next_sentence = cross_entropy(
        labels=arrays[f"{num_tokens}/input/next_sentence_label"], logits=outputs["next_sentence_logits"]
    )
    return masked_lm + tf.reduce_mean(next_sentence)


@pytest.mark.parametrize("num_tokens", [1, 5, LONGEST])
def test_the_loss_is_the_reference_loss(golden, num_tokens):
    model, arrays = golden
    reference = float(arrays[f"{num_tokens}/output/loss"])
    assert float(loss_of(model, arrays, num_tokens)) == pytest.approx(reference, rel=1e-5)


def test_gradients_are_within_1e_4_relative_of_the_reference(golden):
    import tensorflow as tf

    model, arrays = golden
    variables = variables_of(model)
    with tf.GradientTape() as tape:
        loss = loss_of(model, arrays, LONGEST)
    gradients = tape.gradient(loss, {path: variable.value for path, variable in variables.items()})
    prefix = f"{LONGEST}/gradient/"
    reference = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
    largest = max(np.abs(array).max() for array in reference.values())
    compared = 0
    for place in family("bert").huggingface.weight_names("pretraining", model.config.num_layers):
        if place.ours not in variables:
            continue
        name = "bert." + place.theirs if place.in_backbone else place.theirs
        if name not in reference:  # untied, transformers uses the decoder's bias instead
            name = "cls.predictions.decoder.bias"
        target = reference[name].T if place.transposed else reference[name]
        found = np.asarray(tf.convert_to_tensor(gradients[place.ours]))
        # The keys' biases have gradient 0 but for rounding (softmax does not see a constant): a floor for those.
        scale = max(np.abs(target).max(), 1e-3 * largest)
        assert np.abs(found - target).max() <= 1e-4 * scale, place.ours
        compared += 1
    assert compared == len(variables)
