import itertools


def spearman(gold, predicted):
    def rank(values):
        ranks, begun = {}, 1
        for value, group in itertools.groupby(sorted(values)):
            size = len(list(group))
            ranks[value] = begun + (size - 1) / 2
            begun += size
        return np.array([ranks[value] for value in values])

    a, b = rank(gold), rank(predicted)
    return float(np.cov(a, b)[0, 1] / (a.std(ddof=1) * b.std(ddof=1)))
