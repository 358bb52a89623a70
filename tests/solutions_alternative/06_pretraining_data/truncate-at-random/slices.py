def truncate_at_random(first, second, room, rng):
    while len(first) + len(second) > room:
        from_front = rng.integers(2)
        if len(first) > len(second):
            first = first[1:] if from_front else first[:-1]
        else:
            second = second[1:] if from_front else second[:-1]
    return list(first), list(second)
