# Wrong answers to the exercises of notebook 02 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% token-embeddings: a batch of one loses its axis
def token_embeddings(token_ids, w_e):
    return ops.squeeze(ops.one_hot(token_ids, w_e.shape[0]) @ w_e)

# %% unshuffle: the second axis
def unshuffle(y, order):
    return ops.take(y, ops.argsort(order), axis=0 if len(y.shape) == 2 else 1)

# %% segment-ids: [SEP] is always 3
def segment_ids(token_ids, sep_id, pad_id):
    here = ops.cast(ops.equal(token_ids, 3), "int32")
    before = ops.cumsum(here, axis=-1) - here
    return before * ops.cast(ops.not_equal(token_ids, pad_id), "int32")

# %% segment-ids: [PAD] is always 0
def segment_ids(token_ids, sep_id, pad_id):
    here = ops.cast(ops.equal(token_ids, sep_id), "int32")
    before = ops.cumsum(here, axis=-1) - here
    return ops.cast(ops.logical_and(before > 0, token_ids != 0), "int32")
