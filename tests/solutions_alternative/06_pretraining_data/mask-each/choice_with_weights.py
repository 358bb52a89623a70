def mask_each(token_ids, mask_id, p, rng):
    masked = [int(rng.choice([mask_id, token], p=[p, 1 - p])) for token in token_ids]
    return masked, [t for t in range(len(masked)) if masked[t] != token_ids[t]]
