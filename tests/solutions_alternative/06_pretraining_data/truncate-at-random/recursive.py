def truncate_at_random(first, second, room, rng):
    if len(first) + len(second) <= room:
        return first[:], second[:]
    cut = slice(1, None) if rng.random() < 0.5 else slice(None, -1)
    if len(first) > len(second):
        return truncate_at_random(first[cut], second, room, rng)
    return truncate_at_random(first, second[cut], room, rng)
