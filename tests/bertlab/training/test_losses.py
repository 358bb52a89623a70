"""The losses beside NumPy in float64, and what counts as a hit."""

import numpy as np
from keras import ops

from bertlab.training.objectives import token_hits, token_losses


def case(seed=0, scale=3.0):
    rng = np.random.default_rng(seed)
    return rng.normal(0, scale, (4, 6, 50)).astype("float32"), rng.integers(0, 50, (4, 6)).astype("int32")


def test_the_loss_is_minus_log_softmax_at_the_id():
    logits, ids = case()
    exact = logits.astype("float64")
    exact = np.log(np.exp(exact).sum(-1)) - np.take_along_axis(exact, ids[..., None], -1)[..., 0]
    np.testing.assert_allclose(ops.convert_to_numpy(token_losses(logits, ids)), exact, rtol=1e-6)


def test_half_precision_logits_give_a_loss_in_float32():
    logits, ids = case()
    losses = token_losses(ops.cast(logits, "bfloat16"), ids)
    assert "float32" in str(losses.dtype)


def test_a_hit_is_a_logit_above_all_others():
    logits, ids = case()
    ids[0] = logits[0].argmax(-1)
    np.testing.assert_array_equal(ops.convert_to_numpy(token_hits(logits, ids)), logits.argmax(-1) == ids)


def test_a_model_that_cannot_tell_tokens_apart_hits_none():
    assert not ops.convert_to_numpy(token_hits(np.zeros((2, 9), "float32"), np.array([0, 3]))).any()


def test_a_loss_that_is_not_a_number_is_no_hit():
    assert not ops.convert_to_numpy(token_hits(np.full((1, 5), np.nan, "float32"), np.array([2]))).any()
