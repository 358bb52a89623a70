import math


def sinusoids(length, d_e):
    rows = []
    for p in range(length):
        row = []
        for i in range(d_e // 2):
            angle = p / 10000 ** (2 * i / d_e)
            row += [math.sin(angle), math.cos(angle)]
        rows.append(row)
    return ops.convert_to_tensor(rows, dtype="float32")
