"""Diagnostics, bias, the logit lens, gates and patching, on a tiny model; the oracles are loops over its outputs."""

import math

import numpy as np
import pytest
from refusals import refused
from tiny_model import tiny_config, tiny_model, tiny_tokenizer

from bertlab.analysis.bias import associations
from bertlab.analysis.diagnostics import (
    blank_probabilities,
    polarity_scores,
    ranks,
    sensitivity,
    token_ids,
    top_k_accuracy,
)
from bertlab.analysis.gating import all_open, gated_heads, with_one_head, without_each_head
from bertlab.analysis.lens import lens_probabilities, logit_lens
from bertlab.analysis.patching import logit_difference, patch_each
from bertlab.common.errors import DataError
from bertlab.models import PreTrainingModel, SequenceClassifier


def probabilities_at(model, tokenizer, text, blank=0):
    ids = [2, *tokenizer.encode(text, special_tokens=True), 3]
    place = [i for i, piece in enumerate(ids) if piece == 4][blank]
    logits = np.array(model({"input_ids": np.array([ids])})["masked_lm_logits"], "float64")[0, place]
    return np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()


# === Diagnostics ===


def test_blanks_are_filled_like_one_by_one(model, tokenizer):
    texts = ["the [MASK] of a river.", "[MASK]", "a robin is a [MASK] ."]
    for batch_size in (1, 64):
        found = blank_probabilities(model, tokenizer, texts, batch_size)
        for row, text in zip(found, texts, strict=True):
            assert row == pytest.approx(probabilities_at(model, tokenizer, text), abs=1e-5)
    refused(r"text 2: expected one \[MASK\], got 2", blank_probabilities, model, tokenizer, ["[MASK]", "[MASK] [MASK]"])
    with pytest.raises(DataError, match="text 1: expected at most 12 tokens, got 13"):
        blank_probabilities(model, tokenizer, ["[MASK] " + "the " * 10])


def test_hits_count_the_tokens_that_are_likelier():
    """Without ties it is Ettinger's: the target is among the first k after sorting."""
    rng = np.random.default_rng(3)
    probabilities, targets = rng.random((30, 9)), rng.integers(0, 9, size=30)
    for k in (1, 5):
        hits = [target in sorted(range(9), key=lambda i: -row[i])[:k] for row, target in zip(probabilities, targets)]
        assert top_k_accuracy(probabilities, targets, k) == np.mean(hits)
    assert ranks(np.array([[0.3, 0.3, 0.4]]), [1]).tolist() == [2]  # an equal one is not likelier


def test_negation_turns_the_preference_round():
    affirmative = np.array([[0.5, 0.1], [0.2, 0.4], [0.3, 0.295]])
    negated = np.array([[0.5, 0.1], [0.1, 0.6], [0.2, 0.3]])
    scores = polarity_scores(affirmative, negated, margin=0.01)
    assert scores == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert sensitivity(affirmative[:, 0], affirmative[:, 1]) == pytest.approx(2 / 3)


def test_a_word_of_several_tokens_is_refused(tokenizer):
    assert token_ids(tokenizer, ["bank", "river"]).tolist() == [6, 9]
    refused("'birds' has 2 tokens", token_ids, tokenizer, ["bank", "birds"])
    refused("'zebra' is not in the vocabulary; choose words of one token", token_ids, tokenizer, ["bank", "zebra"])


def test_the_first_word_of_a_text_has_no_space_before_it():
    """A byte-level vocabulary has both: "he" and " he"."""

    class Spaces:
        word_prefix = " "
        vocabulary = tiny_tokenizer().vocabulary

        def encode(self, text):
            return [{"he": 7, " he": 8}[text]]

    assert token_ids(Spaces(), ["he"]).tolist() == [8] and token_ids(Spaces(), ["he"], first=True).tolist() == [7]


# === Bias ===


def test_bias_is_the_difference_of_two_log_ratios(model, tokenizer):
    template, targets = "a {attribute} is {target} .", ("robin", "bank")
    river, birds = associations(model, tokenizer, template, targets, ["river", "birds"])
    given = probabilities_at(model, tokenizer, "a river is [MASK] .")
    prior = probabilities_at(model, tokenizer, "a [MASK] is [MASK] .", blank=1)
    one, other = 10, 6
    assert river.ratio == pytest.approx(math.log(given[one] / given[other]), abs=1e-4)
    expected = math.log(given[one] / prior[one]) - math.log(given[other] / prior[other])
    assert river.bias == pytest.approx(expected, abs=1e-4)
    assert river.probabilities == pytest.approx((given[one], given[other]), abs=1e-5)
    two_masks = probabilities_at(model, tokenizer, "a [MASK] [MASK] is [MASK] .", blank=2)
    assert birds.priors == pytest.approx((two_masks[one], two_masks[other]), abs=1e-5)


def test_templates_and_attributes_that_cannot_be_used_are_refused(model, tokenizer):
    for template, attribute, told in (
        ("{target} is a bird", "bank", "expected a template with one {target} and one {attribute}"),
        ("{target} {target} {attribute}", "bank", "expected a template with one {target} and one {attribute}"),
        ("{target} is {attribute}", "", "at least one token, got ''"),
        ("{target} is {attribute}", "bank zebra", "'bank zebra' has a word that is not in the vocabulary"),
        ("{target} is {attribute}", "bank " * 9, "expected at most 12 tokens"),
    ):
        refused(told, associations, model, tokenizer, template, ("a", "the"), [attribute])


# === Gates ===


def test_a_gate_multiplies_the_heads_output(model):
    """One layer in NumPy: the sum over heads of gate · (weights · values) · W_o."""
    attention = model.backbone.encoder.layers_[1].attention
    x = np.random.default_rng(6).normal(size=(1, 5, 16)).astype("float32")
    gates = np.array([[1.0, 1.0], [0.25, -2.0]])
    _, weights = attention(x, return_weights=True)
    weights = np.array(weights, "float64")[0]  # (A, T, T)
    value = x[0].astype("float64") @ np.array(attention.value.kernel, "float64") + np.array(attention.value.bias)
    out = np.array(attention.out.kernel, "float64")
    heads = [gates[1, a] * weights[a] @ value[:, 8 * a : 8 * a + 8] @ out[8 * a : 8 * a + 8] for a in range(2)]
    before = np.array(attention(x))
    with gated_heads(model.backbone, gates):
        assert np.array(attention(x))[0] == pytest.approx(sum(heads) + np.array(attention.out.bias), abs=1e-4)
    assert np.array_equal(np.array(attention(x)), before)


def test_the_model_is_whole_again_after_an_error(model):
    kernel = np.array(model.backbone.encoder.layers_[0].attention.out.kernel)
    with pytest.raises(ZeroDivisionError), gated_heads(model.backbone, np.zeros((2, 2))):
        assert not np.array(model.backbone.encoder.layers_[0].attention.out.kernel).any()
        raise ZeroDivisionError
    assert np.array_equal(np.array(model.backbone.encoder.layers_[0].attention.out.kernel), kernel)
    with pytest.raises(DataError, match=r"expected gates of shape \(2, 2\)"), gated_heads(model.backbone, np.ones(2)):
        pass


def test_every_head_is_removed_once_and_kept_alone_once(model):
    kernels = [layer.attention.out.kernel for layer in model.backbone.encoder.layers_]

    def score():
        """Which heads are there, as one number: 1, 2, 4 and 8 for the four heads."""
        there = [bool(np.array(kernel)[8 * head : 8 * head + 8].any()) for kernel in kernels for head in range(2)]
        return sum(2.0**i for i, head in enumerate(there) if head)

    assert all_open(model.backbone).tolist() == [[1, 1], [1, 1]]
    assert without_each_head(model.backbone, score).tolist() == [[14, 13], [11, 7]]
    assert with_one_head(model.backbone, score).tolist() == [[13, 14], [7, 11]]
    assert score() == 15


# === Patching ===


def looped_patch(model, source, target, layer, token):
    """The second text's last states with one vector of the first, layer by layer."""
    backbone, states = model.backbone, []
    for ids in (source, target):
        x = np.array(backbone.embeddings(np.array([ids])))
        for one in backbone.encoder.layers_[:layer]:
            x = np.array(one(x))
        states.append(x)
    x = states[1].copy()
    x[0, token] = states[0][0, token]
    for one in backbone.encoder.layers_[layer:]:
        x = np.array(one(x))
    return x if backbone.encoder.final_norm is None else np.array(backbone.encoder.final_norm(x))


@pytest.mark.parametrize("changes", [{}, {"pre_norm": True}], ids=["post-LN", "pre-LN"])
def test_every_patch_equals_one_made_by_hand(tokenizer, changes):
    model = tiny_model(**changes)
    metric = logit_difference(model, tokenizer, 2, "is", "are")
    result = patch_each(model.backbone, tokenizer, "the [MASK] robin", "a [MASK] robin", metric)
    source, target = [2, 5, 4, 10, 3], [2, 8, 4, 10, 3]
    ends = [metric(looped_patch(model, ids, ids, 0, 0))[0] for ids in (source, target)]
    assert (result.source, result.target) == (pytest.approx(ends[0], abs=1e-4), pytest.approx(ends[1], abs=1e-4))
    for layer in range(2 if changes else 3):  # a pre-LN model's last state is already normalised
        for token in range(5):
            by_hand = metric(looped_patch(model, source, target, layer, token))[0]
            assert result.values[layer, token] == pytest.approx(by_hand, abs=1e-3)
            fraction = (by_hand - ends[1]) / (ends[0] - ends[1])
            assert result.fractions[layer, token] == pytest.approx(fraction, abs=1e-2)
    assert result.fractions[0, 1] == pytest.approx(1, abs=1e-3)  # the only word that differs
    assert result.fractions[-1, 2] == pytest.approx(1, abs=1e-3)  # the state that the head reads
    assert result.pieces == ["[CLS]", "a", "[MASK]", "robin", "[SEP]"]


def test_a_left_to_right_model_is_patched_with_its_mask(tokenizer):
    model = tiny_model(causal=True)
    metric = logit_difference(model, tokenizer, 2, "is", "are")
    result = patch_each(model.backbone, tokenizer, "the [MASK] robin", "a [MASK] robin", metric)
    assert result.fractions[0] == pytest.approx([0, 1, 0, 0, 0], abs=1e-3)
    assert result.fractions[:, 3:] == pytest.approx(0, abs=1e-3)  # later tokens reach nothing before them


def test_texts_that_cannot_be_compared_are_refused(model, tokenizer):
    metric = logit_difference(model, tokenizer, 1, "is", "are")
    with pytest.raises(DataError, match="equally many tokens in both texts, got 4 and 5"):
        patch_each(model.backbone, tokenizer, "the bird", "the birds", metric)
    refused("no difference to explain", patch_each, model.backbone, tokenizer, "the bird", "the bird", metric)
    with pytest.raises(DataError, match="expected a model with a masked-LM head"):
        logit_difference(SequenceClassifier(tiny_config(), num_labels=2), tokenizer, 1, "is", "are")


# === The logit lens: the masked-LM head on every layer's states ===


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
    with pytest.raises(DataError, match=r"no \[MASK\] in 'the bank': write one, or give positions"):
        logit_lens(tiny_model(), tokenizer, "the bank")
    with pytest.raises(DataError, match="expected a model with a masked-LM head, got SequenceClassifier"):
        logit_lens(SequenceClassifier(tiny_config(), num_labels=2), tokenizer, "the [MASK]")
