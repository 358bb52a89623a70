def truncate_at_random(first, second, room, rng):
    a, b = len(first), len(second)
    while a + b > room:
        if a > b:
            a -= 1
        else:
            b -= 1
    front_a = rng.binomial(len(first) - a, 0.5)
    front_b = rng.binomial(len(second) - b, 0.5)
    return first[front_a : front_a + a], second[front_b : front_b + b]
