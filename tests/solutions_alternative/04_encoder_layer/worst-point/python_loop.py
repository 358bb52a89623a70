def worst_point(x, exact, approximate):
    place, largest = x[0], ops.abs(exact[0] - approximate[0])
    for here, one, other in zip(x, exact, approximate):
        if ops.abs(one - other) > largest:
            place, largest = here, ops.abs(one - other)
    return ops.stack([place, largest])
