def truncate_at_random(first, second, room, rng):
    ends = [[0, len(first)], [0, len(second)]]
    while sum(right - left for left, right in ends) > room:
        sizes = [right - left for left, right in ends]
        longer = 0 if sizes[0] > sizes[1] else 1
        if rng.random() < 0.5:
            ends[longer][0] += 1
        else:
            ends[longer][1] -= 1
    (a, b), (c, d) = ends
    return first[a:b], second[c:d]
