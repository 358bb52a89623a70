def choose_positions(token_ids, special_ids, count, rng):
    pool = np.flatnonzero([token not in special_ids for token in token_ids]).tolist()
    chosen = []
    while pool and len(chosen) < count:
        chosen.append(pool.pop(rng.integers(len(pool))))
    chosen.sort()
    return chosen
