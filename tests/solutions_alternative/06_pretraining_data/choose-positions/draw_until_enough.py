def choose_positions(token_ids, special_ids, count, rng):
    regular = sum(token not in special_ids for token in token_ids)
    chosen = set()
    while len(chosen) < min(count, regular):
        t = int(rng.integers(len(token_ids)))
        if token_ids[t] not in special_ids:
            chosen.add(t)
    return sorted(chosen)
