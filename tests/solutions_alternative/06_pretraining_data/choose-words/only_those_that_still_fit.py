def choose_words(words, count, rng):
    left, positions = list(words), []
    while left := [word for word in left if len(word) <= count - len(positions)]:
        positions += left.pop(int(rng.integers(len(left))))
    return sorted(positions)
