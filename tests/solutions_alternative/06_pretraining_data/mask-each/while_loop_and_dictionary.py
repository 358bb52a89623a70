def mask_each(token_ids, mask_id, p, rng):
    row = dict(enumerate(token_ids))
    t = 0
    while t < len(row):
        if 1 - rng.random() <= p:
            row[t] = mask_id
        t += 1
    return list(row.values()), [t for t in row if row[t] == mask_id]
