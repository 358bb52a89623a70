def parameter_count(
    vocab_size, hidden_size, num_layers, num_heads, intermediate_size, max_positions=512, num_segments=2,
    pretraining_heads=False,
):  # fmt: skip
    h = hidden_size
    parts = {
        "tables": (vocab_size + max_positions + num_segments) * h,
        "query key value out": num_layers * 4 * h * (h + 1),
        "inner": num_layers * (h + 1) * intermediate_size,
        "outer": num_layers * (intermediate_size + 1) * h,
        "norms": (1 + 2 * num_layers) * 2 * h,
        "pooler": h * (h + 1),
        "mlm": pretraining_heads and h * (h + 1) + 2 * h + vocab_size,
        "nsp": pretraining_heads and 2 * (h + 1),
    }
    return sum(parts.values())
