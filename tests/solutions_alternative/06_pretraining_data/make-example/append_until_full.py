def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, most):
    ids, types, mask = list(masked_ids), list(token_type_ids), [1 for _ in masked_ids]
    while len(ids) < length:
        ids.append(0)
        types.append(0)
        mask.append(0)
    where, what, weights = [], [], []
    for slot in range(most):
        real = slot < len(positions)
        where.append(positions[slot] if real else 0)
        what.append(original_ids[positions[slot]] if real else 0)
        weights.append(1.0 if real else 0.0)
    return {"input_ids": ids, "token_type_ids": types, "attention_mask": mask, "masked_lm_positions": where,
            "masked_lm_ids": what, "masked_lm_weights": weights, "next_sentence_labels": label}  # fmt: skip
