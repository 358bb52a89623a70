def worst_point(x, exact, approximate):
    distance, place = max((abs(float(a) - float(b)), float(p)) for p, a, b in zip(x, exact, approximate))
    return ops.convert_to_tensor([place, distance])
