def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = list(token_ids)
    touched = [t for t in positions if rng.random() >= 0.1]
    for t in touched:
        masked[t] = mask_id if rng.random() < 8 / 9 else int(rng.choice(replacements))
    return masked
