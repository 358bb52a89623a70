def concat_heads(heads):
    turned = [ops.swapaxes(head, -1, -2) for head in heads]
    return ops.swapaxes(ops.concatenate(turned, axis=-2), -1, -2)
