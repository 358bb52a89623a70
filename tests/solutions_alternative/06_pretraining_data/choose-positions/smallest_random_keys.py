def choose_positions(token_ids, special_ids, count, rng):
    keys = rng.random(len(token_ids))
    keys[np.isin(token_ids, special_ids)] = 2
    chosen = [t for t in np.argsort(keys)[:count] if keys[t] < 2]
    return np.sort(chosen).tolist()
