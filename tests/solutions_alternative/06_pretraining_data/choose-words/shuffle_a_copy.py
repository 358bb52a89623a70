def choose_words(words, count, rng):
    order = list(range(len(words)))
    rng.shuffle(order)
    chosen, room = [], count
    for index in order:
        if len(words[index]) > room:
            continue
        chosen += words[index]
        room -= len(words[index])
    chosen.sort()
    return chosen
