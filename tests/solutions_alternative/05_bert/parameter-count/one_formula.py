def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    h, f, v = hidden_size, intermediate_size, vocab_size
    count = (v + max_positions + num_segments + 2) * h + num_layers * (4 * h * h + 2 * h * f + 9 * h + f) + h * (h + 1)
    return count + pretraining_heads * (h * h + 5 * h + v + 2)
