def concat_heads(heads):
    columns = [head[..., j] for head in heads for j in range(head.shape[-1])]
    return ops.stack(columns, axis=-1)
