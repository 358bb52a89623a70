def mask_each(token_ids, mask_id, p, rng):
    if not token_ids:
        return [], []
    masked, positions = mask_each(token_ids[:-1], mask_id, p, rng)
    if rng.uniform() < p:
        return [*masked, mask_id], [*positions, len(token_ids) - 1]
    return [*masked, token_ids[-1]], positions
