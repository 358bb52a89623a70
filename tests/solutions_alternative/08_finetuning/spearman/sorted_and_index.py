def spearman(gold, predicted):
    def rank(values):
        ordered = sorted(values)
        return [ordered.index(x) + (1 + ordered.count(x)) / 2 for x in values]

    a, b = rank(gold), rank(predicted)
    mean = (len(a) + 1) / 2
    together = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    apart = (sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)) ** 0.5
    return together / apart
