def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = list(token_ids)
    for t in positions:
        hat = [mask_id] * 8 + [int(rng.choice(replacements)), token_ids[t]]
        masked[t] = hat[rng.integers(len(hat))]
    return masked
