def choice_logits(hidden, v, choices):
    """Column c: rows c, c + choices, c + 2 · choices …"""
    columns = [ops.sum(hidden[c::choices, 0] * v, axis=-1) for c in range(choices)]
    return ops.stack(columns, axis=1)
