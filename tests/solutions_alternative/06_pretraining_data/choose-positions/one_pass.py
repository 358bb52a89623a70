def choose_positions(token_ids, special_ids, count, rng):
    left = sum(token not in special_ids for token in token_ids)
    chosen = []
    for t, token in enumerate(token_ids):
        if token in special_ids:
            continue
        if rng.random() * left < count - len(chosen):  # as many as are still wanted, of as many as are left
            chosen.append(t)
        left -= 1
    return chosen
