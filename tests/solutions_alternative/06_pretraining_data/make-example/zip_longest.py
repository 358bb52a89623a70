from itertools import zip_longest


def make_example(original_ids, masked_ids, token_type_ids, positions, label, length, most):
    tokens = zip_longest(masked_ids, token_type_ids, [1] * len(masked_ids), range(length), fillvalue=0)
    slots = zip_longest(positions, [original_ids[t] for t in positions], [1.0] * len(positions), [0.0] * most)
    ids, types, mask, _ = map(list, zip(*tokens))
    where, what, weights, _ = zip(*slots)
    return {
        "input_ids": ids,
        "token_type_ids": types,
        "attention_mask": mask,
        "masked_lm_positions": [t or 0 for t in where],
        "masked_lm_ids": [token or 0 for token in what],
        "masked_lm_weights": [weight or 0.0 for weight in weights],
        "next_sentence_labels": label,
    }
