def f1_and_matthews(gold, predicted):
    cells = Counter(zip(gold, predicted))
    hits, misses, alarms, rest = cells[1, 1], cells[1, 0], cells[0, 1], cells[0, 0]
    f1 = hits / (hits + (misses + alarms) / 2) if hits else 0.0
    product = 1
    for total in (hits + misses, hits + alarms, rest + misses, rest + alarms):
        product *= total
    return f1, (hits * rest - misses * alarms) / np.sqrt(product) if product else 0.0
