def add_to_rows(x, b):
    return x + ops.einsum("...mn,n->...mn", ops.ones_like(x), b)
