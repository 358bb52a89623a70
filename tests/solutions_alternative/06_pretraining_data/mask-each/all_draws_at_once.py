def mask_each(token_ids, mask_id, p, rng):
    hidden = rng.random(len(token_ids)) < p
    masked = np.where(hidden, mask_id, token_ids).tolist()
    return masked, np.flatnonzero(hidden).tolist()
