def choose_words(words, count, rng):
    pool, positions = list(words), set()
    while pool:
        word = pool.pop(rng.integers(len(pool)))
        if len(positions) + len(word) <= count:
            positions.update(word)
    return sorted(positions)
