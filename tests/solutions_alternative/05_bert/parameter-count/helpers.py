def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    def dense(a, b):
        return (a + 1) * b

    def norm():
        return 2 * hidden_size

    def layer():
        return (
            4 * dense(hidden_size, hidden_size)
            + dense(hidden_size, intermediate_size)
            + dense(intermediate_size, hidden_size)
            + 2 * norm()
        )

    tables = hidden_size * sum((vocab_size, max_positions, num_segments))
    heads = dense(hidden_size, hidden_size) + norm() + vocab_size + dense(hidden_size, 2)
    body = tables + norm() + num_layers * layer() + dense(hidden_size, hidden_size)
    return body + heads if pretraining_heads else body
