def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    h, f = hidden_size, intermediate_size
    matrices = np.array([[vocab_size, h], [max_positions, h], [num_segments, h], [h, h], [h, h], [h, f]])
    how_often = np.array([1, 1, 1, 4 * num_layers, 1, 2 * num_layers])
    vectors = np.dot([2 + 9 * num_layers + 1, num_layers], [h, f])
    if pretraining_heads:
        vectors += h * h + 3 * h + vocab_size + 2 * h + 2
    return int(matrices.prod(axis=1) @ how_often + vectors)
