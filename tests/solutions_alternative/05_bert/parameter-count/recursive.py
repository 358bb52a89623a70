def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    h, f = hidden_size, intermediate_size
    sizes = (vocab_size, h), num_heads, f, max_positions, num_segments, pretraining_heads
    if num_layers > 0:
        one = (h + 1) * 4 * h + h * f + f + f * h + h + 4 * h
        (v, _), *others = sizes
        return one + parameter_count(v, h, num_layers - 1, *others)
    bare = h * (vocab_size + max_positions + num_segments) + 2 * h + h**2 + h
    return bare + (h**2 + h + 2 * h + vocab_size + 2 * (h + 1) if pretraining_heads else 0)
