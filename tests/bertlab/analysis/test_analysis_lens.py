"""The logit lens: the masked-LM head on every layer's states."""

import math

import numpy as np
import pytest
from tiny_model import tiny_config, tiny_model

from bertlab.analysis.lens import lens_probabilities, logit_lens
from bertlab.common.errors import DataError


def softmax(x):
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def head_of(model, x):
    """LN(gelu(x W + b)) E + bias in NumPy, float64."""
    erf = np.vectorize(math.erf)
    head = model.masked_lm_head
    weights = {
        variable.path.partition("masked_lm_head/")[2]: np.array(variable, "float64") for variable in head.weights
    }
    table = np.array(model.backbone.embeddings.token.embeddings, "float64")
    kernel, bias, gamma, beta = (weights[name] for name in ("dense/kernel", "dense/bias", "norm/gamma", "norm/beta"))
    y = x @ kernel + bias
    y = y * 0.5 * (1 + erf(y / np.sqrt(2)))
    y = (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-12) * gamma + beta
    return y @ table.T + weights["bias"]


@pytest.mark.parametrize("tied", [True, False])
def test_the_last_layers_lens_is_the_models_prediction(tokenizer, tied):
    from bertlab.models import PreTrainingModel

    model = PreTrainingModel(tiny_config(), tied=tied)
    layers = logit_lens(model, tokenizer, "the [MASK] of a [MASK].", top_k=17)
    assert len(layers) == 3 and len(layers[0]) == 2
    ids = [2, 5, 4, 7, 8, 4, 13, 3]
    expected = softmax(np.array(model({"input_ids": np.array([ids])})["masked_lm_logits"])[0])
    for blank, place in zip(layers[-1], (2, 5), strict=True):
        for guess in blank:
            assert guess.probability == pytest.approx(
                expected[place, tokenizer.vocabulary.index(guess.piece)], abs=1e-5
            )


def test_every_layer_goes_through_the_whole_head(tokenizer):
    model = tiny_model()
    ids = np.array([[2, 5, 4, 7, 3]])
    hidden = model.backbone({"input_ids": ids}, return_all=True)["hidden_states"]
    states = np.stack([np.array(state)[0] for state in hidden])
    assert np.allclose(lens_probabilities(model, states), softmax(head_of(model, states.astype("float64"))), atol=1e-5)


def test_in_a_pre_ln_model_the_last_norm_comes_before_the_head(tokenizer):
    model = tiny_model(pre_norm=True)
    hidden = model.backbone({"input_ids": np.array([[2, 5, 4, 3]])}, return_all=True)["hidden_states"]
    states = np.stack([np.array(state)[0] for state in hidden])
    normed = states.copy()
    for layer in (0, 1):
        normed[layer] = np.array(model.backbone.encoder.final_norm(states[layer]))
    assert np.allclose(lens_probabilities(model, states), softmax(head_of(model, normed)), atol=1e-5)


def test_positions_can_be_chosen(tokenizer):
    model = tiny_model()
    layers = logit_lens(model, tokenizer, "the bank", positions=[0, 1, 2, 3], top_k=2)
    assert [[len(guesses) for guesses in row] for row in layers] == [[2] * 4] * 3


def test_a_text_without_mask_and_a_model_without_the_head_are_refused(tokenizer):
    from bertlab.models import SequenceClassifier

    with pytest.raises(DataError, match=r"no \[MASK\] in 'the bank': write one, or give positions"):
        logit_lens(tiny_model(), tokenizer, "the bank")
    with pytest.raises(DataError, match="expected a model with a masked-LM head, got SequenceClassifier"):
        logit_lens(SequenceClassifier(tiny_config(), num_labels=2), tokenizer, "the [MASK]")
