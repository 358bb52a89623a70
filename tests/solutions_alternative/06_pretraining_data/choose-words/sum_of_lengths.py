def choose_words(words, count, rng):
    kept = []
    for index in rng.choice(len(words), len(words), replace=False):
        trial = [*kept, words[index]]
        kept = trial if sum(map(len, trial)) <= count else kept
    return np.sort(np.concatenate(kept)).astype(int).tolist() if kept else []
