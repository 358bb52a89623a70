"""The pre-training losses (Devlin et al. 2019, section 3.1 and appendix A.2), in float32 at any precision of the model.

Letters: B batch, P predictions, V vocabulary.
"""

from keras import ops


def token_losses(logits, ids):
    """−log softmax(logits)[id], one for each prediction. logits (…, V), ids (…) int → (…) float32."""
    logits = ops.cast(logits, "float32")
    # A comparison selects the logit, not a gather: the gradient of a gather is scattered into an array of zeros as
    # large as the logits, while this one fuses with that of the softmax.
    chosen = ops.sum(ops.where(_is_chosen(logits, ids), logits, 0.0), axis=-1)
    return ops.logsumexp(logits, axis=-1) - chosen


def smoothed_losses(logits, ids, smoothing: float):
    """Cross-entropy with (1 − smoothing) of the probability on id and the rest spread evenly over all V tokens.

    Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4 (0.1). logits (…, V), ids (…) int → (…) float32.
    """
    logits = ops.cast(logits, "float32")
    spread = ops.logsumexp(logits, axis=-1) - ops.mean(logits, axis=-1)  # cross-entropy with all tokens alike
    return (1.0 - smoothing) * token_losses(logits, ids) + smoothing * spread


def token_hits(logits, ids):
    """Whether the logit of id is higher than every other. logits (…, V), ids (…) int → (…) bool.

    Unlike argmax = id this needs no search for an index, which is slow on CPUs.
    """
    is_chosen = _is_chosen(logits, ids)
    highest_other = ops.max(ops.where(is_chosen, -float("inf"), logits), axis=-1)
    return ops.sum(ops.where(is_chosen, logits, 0.0), axis=-1) > highest_other


def _is_chosen(logits, ids):
    """True at the logit of each id: (…, V) bool. V may be unknown while a graph is made, as the tokens of a row are."""
    return ops.equal(ops.arange(ops.shape(logits)[-1], dtype="int32"), ops.cast(ids, "int32")[..., None])


def weighted_mean(values, weights, total=None):
    """Σ weight · value / (Σ weight + 1e-5): BERT's mean over the predictions that are not padding.

    total: Σ weight of the whole batch, when these are the values of a part of it; the parts' means then add up to
    the batch's, however unevenly the predictions are spread over them.
    """
    weights = ops.cast(weights, "float32")
    total = ops.sum(weights) if total is None else total
    return ops.sum(values * weights) / (total + 1e-5)
