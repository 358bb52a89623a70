def choose_positions(token_ids, special_ids, count, rng):
    allowed = [t for t in range(len(token_ids)) if token_ids[t] not in set(special_ids)]
    rng.shuffle(allowed)
    return sorted(allowed[:count])
