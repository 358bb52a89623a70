def f1_and_matthews(gold, predicted):
    """Matthews' figure is Pearson's correlation of two rows of 0 and 1."""
    gold, predicted = np.array(gold, "float64"), np.array(predicted, "float64")
    both = gold.sum() + predicted.sum()
    f1 = 2 * (gold * predicted).sum() / both if both else 0.0
    constant = gold.std() < 1e-9 or predicted.std() < 1e-9
    return f1, 0.0 if constant else np.corrcoef(gold, predicted)[0, 1]
