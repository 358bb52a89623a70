def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = token_ids.copy()
    fates = rng.choice(["mask", "other", "same"], size=len(positions), p=[0.8, 0.1, 0.1])
    for t, fate in zip(positions, fates):
        if fate == "mask":
            masked[t] = mask_id
        if fate == "other":
            masked[t] = replacements[rng.integers(len(replacements))]
    return masked
