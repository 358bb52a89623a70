def worst_point(x, exact, approximate):
    distance = ops.maximum(exact - approximate, approximate - exact)
    here = ops.cast(ops.equal(distance, ops.max(distance)), x.dtype)
    return ops.stack([ops.sum(here * x), ops.max(distance)])
