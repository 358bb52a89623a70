def mask_each(token_ids, mask_id, p, rng):
    coins = [rng.binomial(1, p) for _ in token_ids]
    masked = [mask_id if coin else token for token, coin in zip(token_ids, coins)]
    return masked, [t for t, coin in enumerate(coins) if coin]
