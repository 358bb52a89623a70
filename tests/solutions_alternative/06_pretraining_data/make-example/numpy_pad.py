def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, most):
    def padded(values, size, kind=int):
        return np.pad(np.array(values, kind), (0, size - len(values))).tolist()

    return dict(
        input_ids=padded(masked_ids, length),
        token_type_ids=padded(token_type_ids, length),
        attention_mask=padded(np.ones(len(masked_ids)), length),
        masked_lm_positions=padded(positions, most),
        masked_lm_ids=padded(np.take(original_ids, positions), most),
        masked_lm_weights=padded(np.ones(len(positions)), most, float),
        next_sentence_labels=label,
    )
