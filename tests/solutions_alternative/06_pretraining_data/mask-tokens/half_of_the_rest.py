def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = list(token_ids)
    for t in positions:
        if rng.random() < 0.8:
            masked[t] = mask_id
        elif rng.random() < 0.5:
            masked[t] = replacements[int(rng.integers(0, len(replacements)))]
    return masked
