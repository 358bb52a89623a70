def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, most):
    example = {name: [0] * length for name in ("input_ids", "token_type_ids", "attention_mask")}
    example |= {f"masked_lm_{name}": [0] * most for name in ("positions", "ids", "weights")}
    for t, token in enumerate(masked_ids):
        example["input_ids"][t] = token
        example["token_type_ids"][t] = token_type_ids[t]
        example["attention_mask"][t] = 1
    for slot, t in enumerate(positions):
        example["masked_lm_positions"][slot] = t
        example["masked_lm_ids"][slot] = original_ids[t]
        example["masked_lm_weights"][slot] = 1.0
    example["next_sentence_labels"] = label
    return example
