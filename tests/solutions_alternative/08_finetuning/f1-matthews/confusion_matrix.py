def f1_and_matthews(gold, predicted):
    """A 2 × 2 table: its determinant is the numerator of Matthews' figure, its margins the denominator."""
    table = np.zeros((2, 2))
    np.add.at(table, (gold, predicted), 1)
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    margins = rows.prod() * columns.prod()
    f1 = 2 * table[1, 1] / (rows[1] + columns[1]) if rows[1] + columns[1] else 0.0
    determinant = table[0, 0] * table[1, 1] - table[0, 1] * table[1, 0]
    return float(f1), float(determinant / margins**0.5) if margins else 0.0
