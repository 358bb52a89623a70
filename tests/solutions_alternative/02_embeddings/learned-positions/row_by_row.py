def learned_positions(length, w_p):
    rows = []
    for place in range(length):
        if place == w_p.shape[0]:
            raise ValueError(f"no row {place}")
        rows.append(w_p[place])
    return ops.stack(rows)
