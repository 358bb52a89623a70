def spearman(gold, predicted):
    """The sum of the signs of all differences is twice the rank, shifted: correlation does not mind."""
    places = []
    for values in (np.array(gold), np.array(predicted)):
        places.append(np.sign(values[:, None] - values[None, :]).sum(axis=1))
    a, b = places
    return float(a @ b / np.sqrt(a @ a) / np.sqrt(b @ b))
