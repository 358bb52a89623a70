def concat_heads(heads):
    y = heads[0]
    for head in heads[1:]:
        y = ops.concatenate([y, head], axis=-1)
    return y
