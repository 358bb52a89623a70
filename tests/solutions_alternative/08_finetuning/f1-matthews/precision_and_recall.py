def f1_and_matthews(gold, predicted):
    """F1 from precision and recall; Matthews' figure from informedness and markedness."""

    def share(of, among):
        chosen = [a for a, b in zip(of, among) if b]
        return sum(chosen) / len(chosen) if chosen else None

    precision, recall = share(gold, predicted), share(predicted, gold)
    false_alarms = share(predicted, [1 - g for g in gold])
    false_omissions = share(gold, [1 - p for p in predicted])
    f1 = 2 * precision * recall / (precision + recall) if precision and recall else 0.0
    if None in (precision, recall, false_alarms, false_omissions):
        return f1, 0.0
    informed, marked = recall - false_alarms, precision - false_omissions
    size = abs(informed * marked) ** 0.5
    return f1, size if informed > 0 else -size
