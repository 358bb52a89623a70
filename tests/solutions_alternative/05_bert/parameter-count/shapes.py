import math


def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    h, f = hidden_size, intermediate_size
    shapes = [(vocab_size, h), (max_positions, h), (num_segments, h), (2, h), (h, h), (h,)]
    for _ in range(num_layers):
        shapes += 4 * [(h, h), (h,)] + [(h, f), (f,), (f, h), (h,)] + 2 * [(2, h)]
    if pretraining_heads:
        shapes += [(h, h), (h,), (2, h), (vocab_size,), (h, 2), (2,)]
    return sum(map(math.prod, shapes))
