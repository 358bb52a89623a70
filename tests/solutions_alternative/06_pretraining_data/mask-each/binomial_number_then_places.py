def mask_each(token_ids, mask_id, p, rng):
    how_many = rng.binomial(len(token_ids), p)  # independent draws: a binomial number, at random places
    positions = sorted(rng.permutation(len(token_ids))[:how_many].tolist())
    masked = list(token_ids)
    for t in positions:
        masked[t] = mask_id
    return masked, positions
