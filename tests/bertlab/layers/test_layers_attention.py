"""The results of attention, against the paper's formula written in NumPy with float64.

Sizes: B 2 rows, T 5 query tokens, S 3 keys of another sequence, A 2 heads, d 4 dimensions a head, H 8.
"""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from keras import ops

from bertlab.common import devices
from bertlab.common.errors import ConfigError
from bertlab.layers import (
    MultiHeadAttention,
    attention_weights,
    causal_mask,
    combine,
    packed_mask,
    padding_mask,
    scaled_dot_product_attention,
)

CLOSE = dict(rtol=1e-5, atol=1e-5)


def numbers(*shape, seed=0, scale=1.0):
    return np.random.default_rng(seed).normal(scale=scale, size=shape).astype("float32")


def softmax64(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def weights64(query, key, mask=None):
    """softmax(Q Kᵀ / √d) for one head after the other; hidden keys get the score −∞."""
    query, key = query.astype("float64"), key.astype("float64")
    batch, num_queries, num_heads, head_size = query.shape
    weights = np.zeros((batch, num_heads, num_queries, key.shape[1]))
    for head in range(num_heads):
        scores = query[:, :, head] @ key[:, :, head].transpose(0, 2, 1) / np.sqrt(head_size)
        weights[:, head] = softmax64(scores)
    if mask is not None:
        # the same as −∞: hidden keys weigh 0 and the others share the rest
        weights = weights * np.expand_dims(mask, -3)  # the axis of the heads
        weights /= weights.sum(axis=-1, keepdims=True)
    return weights


def multi_head64(layer, x, memory, mask=None):
    """Concat(head₁ … head_A) W_O with the layer's own kernels."""
    parameters = {w.path.split("/", 1)[1]: ops.convert_to_numpy(w).astype("float64") for w in layer.trainable_weights}

    def project(name, vectors):
        y = vectors.astype("float64") @ parameters[f"{name}/kernel"] + parameters[f"{name}/bias"]
        return y.reshape(*y.shape[:2], layer.num_heads, -1)

    weights = weights64(project("query", x), project("key", memory), mask)
    heads = np.einsum("bats,bsad->btad", weights, project("value", memory)).reshape(x.shape)
    return heads @ parameters["out/kernel"] + parameters["out/bias"], weights


def attention(num_heads=2, memory_size=None, dropout=0.0):
    layer = MultiHeadAttention(num_heads, dropout=dropout, name="mha")
    layer.build((None, None, 8), None if memory_size is None else (None, None, memory_size))
    for seed, weight in enumerate(layer.trainable_weights):
        weight.assign(numbers(*weight.shape, seed=seed, scale=0.5))
    return layer


# Every kind of mask, as booleans that broadcast to (B, T, S); every query sees at least one key.
LENGTHS = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]])
SEQUENCES = np.array([[1, 1, 2, 2, 2], [1, 2, 2, 3, 3]])
ANY = np.maximum(np.random.default_rng(1).integers(0, 2, size=(2, 5, 5)), np.eye(5, dtype=int))
MASKS = {
    "none": (lambda: None, np.ones((1, 1, 1), bool)),
    "padding": (lambda: padding_mask(LENGTHS), LENGTHS[:, None, :] == 1),
    "causal": (lambda: causal_mask(5), np.tril(np.ones((5, 5), bool))),
    "arbitrary": (lambda: ops.cast(ANY, "bool"), ANY == 1),
    "packed": (
        lambda: packed_mask(ops.convert_to_tensor(SEQUENCES)),
        SEQUENCES[:, :, None] == SEQUENCES[:, None],
    ),
    "padding and causal": (
        lambda: combine(padding_mask(LENGTHS), None, causal_mask(5)),
        (LENGTHS[:, None, :] == 1) & np.tril(np.ones((5, 5), bool)),
    ),
}
every_mask = pytest.mark.parametrize("name", MASKS)


@every_mask
def test_masks_are_boolean_and_hide_exactly_what_they_say(name):
    mask = MASKS[name][0]()
    if mask is None:
        assert combine(None, None) is None
        return
    assert np.array_equal(ops.convert_to_numpy(mask), MASKS[name][1])
    assert ops.convert_to_numpy(mask).dtype == bool


def test_a_padded_token_of_a_packed_row_is_seen_by_nobody():
    mask = ops.convert_to_numpy(packed_mask(ops.convert_to_tensor([[1, 1, 2, 0, 0]])))
    assert mask.shape == (1, 5, 5)
    assert not mask[..., 3:].any()
    assert mask[0, 2].tolist() == [False, False, True, False, False]


@every_mask
def test_weights_equal_the_formula_and_every_row_sums_to_one(name):
    query, key = numbers(2, 5, 2, 4), numbers(2, 5, 2, 4, seed=1)
    mask, seen = MASKS[name]
    weights = ops.convert_to_numpy(attention_weights(query, key, mask()))
    np.testing.assert_allclose(weights, weights64(query, key, seen), **CLOSE)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, **CLOSE)
    assert (weights[~np.broadcast_to(np.expand_dims(seen, -3), weights.shape)] == 0).all()  # exactly, not nearly


@pytest.mark.parametrize(
    "backend, platform, capability, fused",
    [
        ("tensorflow", "gpu", "8.0", False), ("torch", "gpu", "7.5", True), ("jax", "cpu", "", True),
        ("jax", "tpu", "", False), ("jax", "gpu", "7.5", False), ("jax", "gpu", "8.0", True),
        ("jax", "gpu", "12.0", True),
    ],
)  # fmt: skip
def test_attention_is_written_out_where_there_is_no_fused_kernel(monkeypatch, backend, platform, capability, fused):
    device = SimpleNamespace(platform=platform, compute_capability=capability)
    monkeypatch.setattr(devices.keras.backend, "backend", lambda: backend)
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(devices=lambda: [device]))
    assert devices.has_fused_kernel() is fused
    assert devices.on_jax_gpu() is (backend == "jax" and platform == "gpu")


@pytest.mark.parametrize("queries, keys, masked, on_gpu, called", [
    (6, 8, True, True, True), (5, 8, True, True, False), (6, 7, True, True, False), (5, 7, False, True, True),
    (5, 7, True, False, True),
])  # fmt: skip
def test_cudnn_is_not_called_for_odd_numbers_with_a_mask(monkeypatch, queries, keys, masked, on_gpu, called):
    from bertlab.layers import attention as module

    calls = []
    fused = module.ops.dot_product_attention
    monkeypatch.setattr(module, "has_fused_kernel", lambda: True)
    monkeypatch.setattr(module, "on_jax_gpu", lambda: on_gpu)
    monkeypatch.setattr(module.ops, "dot_product_attention", lambda *a, **k: calls.append(1) or fused(*a, **k))
    query, key, value = numbers(2, queries, 2, 4), numbers(2, keys, 2, 4, seed=1), numbers(2, keys, 2, 4, seed=2)
    mask = np.ones((2, queries, keys), bool) if masked else None
    heads = ops.convert_to_numpy(scaled_dot_product_attention(query, key, value, mask))
    assert bool(calls) is called
    expected = np.einsum("bats,bsad->btad", weights64(query, key, np.ones((2, queries, keys), bool)), value)
    np.testing.assert_allclose(heads, expected, **CLOSE)


@every_mask
@pytest.mark.parametrize("return_weights", [False, True], ids=["fused", "explicit"])
def test_self_attention_equals_the_formula(name, return_weights):
    layer, x = attention(), numbers(2, 5, 8)
    mask, seen = MASKS[name]
    y = layer(x, attention_mask=mask(), return_weights=return_weights)
    expected, expected_weights = multi_head64(layer, x, x, seen)
    if return_weights:
        y, weights = y
        np.testing.assert_allclose(ops.convert_to_numpy(weights), expected_weights, **CLOSE)
    np.testing.assert_allclose(ops.convert_to_numpy(y), expected, **CLOSE)


@pytest.mark.parametrize("return_weights", [False, True], ids=["fused", "explicit"])
def test_cross_attention_reads_a_memory_of_another_length_and_width(return_weights):
    layer, x, memory = attention(memory_size=6), numbers(2, 5, 8), numbers(2, 3, 6, seed=1)
    seen = np.array([[1, 1, 1], [1, 0, 1]])
    y = layer(x, memory=memory, attention_mask=padding_mask(seen), return_weights=return_weights)
    expected, _ = multi_head64(layer, x, memory, seen[:, None, :])
    np.testing.assert_allclose(ops.convert_to_numpy(y[0] if return_weights else y), expected, **CLOSE)


def test_a_query_that_may_see_nothing_spreads_its_weight_evenly_and_stays_finite():
    mask = np.ones((2, 1, 5, 5), bool)
    mask[0, 0, 2] = False
    layer, x = attention(), numbers(2, 5, 8)
    y, weights = layer(x, attention_mask=mask, return_weights=True)
    np.testing.assert_allclose(ops.convert_to_numpy(weights)[0, :, 2], 1 / 5, **CLOSE)
    assert np.isfinite(ops.convert_to_numpy(y)).all()
    assert np.isfinite(ops.convert_to_numpy(layer(x, attention_mask=mask))).all()


def test_hidden_keys_weigh_nothing_even_when_their_scores_are_enormous():
    query, key = numbers(1, 2, 1, 4), numbers(1, 2, 1, 4, seed=1)
    key[0, 1] = 1e4 * np.sign(query[0, 0])  # the largest score that the first query can be given
    weights = ops.convert_to_numpy(attention_weights(query, key, padding_mask(np.array([[1, 0]]))))
    assert weights[..., 0].tolist() == [[[1, 1]]] and (weights[..., 1] == 0).all()


def test_what_hidden_tokens_hold_changes_nothing_at_all():
    layer, x = attention(), numbers(2, 5, 8)
    changed = x.copy()
    changed[1, 3:] = 50
    y, other = (ops.convert_to_numpy(layer(v, attention_mask=padding_mask(LENGTHS))) for v in (x, changed))
    np.testing.assert_array_equal(y[0], other[0])
    np.testing.assert_array_equal(y[1, :3], other[1, :3])


def test_permuting_the_tokens_permutes_the_outputs():
    layer, x = attention(), numbers(2, 5, 8)
    order = np.array([3, 0, 4, 1, 2])
    y, permuted = ops.convert_to_numpy(layer(x)), ops.convert_to_numpy(layer(x[:, order]))
    np.testing.assert_allclose(permuted, y[:, order], **CLOSE)


def test_rows_of_a_batch_do_not_see_each_other():
    layer, x = attention(), numbers(2, 5, 8)
    both = ops.convert_to_numpy(layer(x))
    for row in range(2):
        np.testing.assert_allclose(ops.convert_to_numpy(layer(x[row : row + 1]))[0], both[row], **CLOSE)


def test_dropout_acts_on_the_weights_and_only_in_training():
    layer, x = attention(dropout=0.5), numbers(2, 5, 8)
    expected, expected_weights = multi_head64(layer, x, x)
    np.testing.assert_allclose(ops.convert_to_numpy(layer(x, training=False)), expected, **CLOSE)
    y, weights = layer(x, training=True, return_weights=True)
    np.testing.assert_allclose(ops.convert_to_numpy(weights), expected_weights, **CLOSE)  # as before dropout
    assert np.abs(ops.convert_to_numpy(y) - expected).max() > 1e-2


def test_dropout_keeps_the_mean():
    layer, x = attention(dropout=0.5), numbers(1, 5, 8)
    expected, _ = multi_head64(layer, x, x)
    many = ops.convert_to_numpy(layer(np.repeat(x, 4000, axis=0), training=True))
    standard_error = many.std(axis=0) / np.sqrt(4000)
    assert (np.abs(many.mean(axis=0) - expected[0]) < 5 * standard_error).all()


def test_heads_that_do_not_divide_the_hidden_size_are_named():
    with pytest.raises(ConfigError, match="hidden size 8 cannot be divided among 3 heads"):
        MultiHeadAttention(3)(numbers(2, 5, 8))


def test_a_mask_may_have_an_axis_for_the_heads():
    layer, x = attention(), numbers(2, 5, 8)
    each_its_own = np.stack([ANY == 1, np.swapaxes(ANY, 1, 2) == 1], axis=1)  # (B, A, T, S)
    _, weights = layer(x, attention_mask=each_its_own, return_weights=True)
    assert np.array_equal(ops.convert_to_numpy(weights) > 0, each_its_own)
