def worst_point(x, exact, approximate):
    distance = ops.abs(exact - approximate)
    last = ops.argsort(distance)[-1]
    return ops.take(ops.stack([x, distance]), last, axis=1)
