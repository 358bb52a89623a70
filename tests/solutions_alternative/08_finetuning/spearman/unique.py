def spearman(gold, predicted):
    rows = []
    for values in (gold, predicted):
        _, group, size = np.unique(values, return_inverse=True, return_counts=True)
        rows.append((np.cumsum(size) - (size - 1) / 2)[group])
    return np.corrcoef(rows)[0, 1]
