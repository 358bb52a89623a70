def f1_and_matthews(gold, predicted):
    """The sums of g, p and g·p and the number of rows say everything."""
    n, g, p = len(gold), sum(gold), sum(predicted)
    both = sum(a & b for a, b in zip(gold, predicted))
    below = g * (n - g) * p * (n - p)
    return 2 * both / max(g + p, 1), (n * both - g * p) / below**0.5 if below else 0.0
