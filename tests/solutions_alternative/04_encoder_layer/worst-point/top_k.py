def worst_point(x, exact, approximate):
    values, indices = ops.top_k(ops.sqrt(ops.square(exact - approximate)), k=1)
    return ops.concatenate([ops.take(x, indices), values])
