def truncate_at_random(first, second, room, rng):
    parts = [list(first), list(second)]
    while sum(map(len, parts)) > room:
        longer = max((1, 0), key=lambda index: len(parts[index]))  # of equals the first that is named: the second part
        if rng.random() < 0.5:
            parts[longer] = parts[longer][::-1][:-1][::-1]
        else:
            parts[longer] = parts[longer][:-1]
    return tuple(parts)
