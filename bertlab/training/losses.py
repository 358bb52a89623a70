"""The pre-training losses (Devlin et al. 2019, section 3.1 and appendix A.2), in float32 whatever a model computes in.

Letters: B batch, P predictions, V vocabulary.
"""

from keras import ops


def token_losses(logits, ids):
    """−log softmax(logits)[id], one for each prediction. logits (…, V), ids (…) int → (…) float32."""
    logits = ops.cast(logits, "float32")
    chosen = ops.take_along_axis(logits, ops.cast(ids, "int32")[..., None], axis=-1)[..., 0]
    return ops.logsumexp(logits, axis=-1) - chosen


def weighted_mean(values, weights, total=None):
    """Σ weight · value / (Σ weight + 1e-5): BERT's mean over the predictions that are not padding.

    total: Σ weight of the whole batch, when these are the values of a part of it; the parts' means then add up to
    the batch's, however unevenly the predictions are spread over them.
    """
    weights = ops.cast(weights, "float32")
    total = ops.sum(weights) if total is None else total
    return ops.sum(values * weights) / (total + 1e-5)
