def choose_positions(token_ids, special_ids, count, rng):
    order = filter(lambda t: token_ids[t] not in special_ids, rng.permutation(len(token_ids)).tolist())
    return sorted(list(order)[:count])
