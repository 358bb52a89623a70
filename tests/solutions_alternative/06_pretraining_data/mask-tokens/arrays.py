def mask_tokens(token_ids, positions, mask_id, replacements, rng):
    masked = np.array(token_ids)
    chosen = np.array(positions)
    draw = rng.random(len(chosen))
    masked[chosen[draw < 0.8]] = mask_id
    swapped = chosen[(draw >= 0.8) & (draw < 0.9)]
    masked[swapped] = rng.choice(replacements, size=len(swapped))
    return masked.tolist()
