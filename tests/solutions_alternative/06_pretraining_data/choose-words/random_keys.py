def choose_words(words, count, rng):
    keys = rng.random(len(words))
    room, kept = count, []
    for _, word in sorted(zip(keys, words)):
        if len(word) <= room:
            room -= len(word)
            kept.append(word)
    return sorted(t for word in kept for t in word)
