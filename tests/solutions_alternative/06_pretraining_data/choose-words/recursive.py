def choose_words(words, count, rng):
    fitting = [word for word in words if len(word) <= count]
    if not fitting:
        return []
    word = fitting[rng.integers(len(fitting))]
    others = [other for other in fitting if other is not word]
    return sorted([*word, *choose_words(others, count - len(word), rng)])
