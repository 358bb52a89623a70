def cosine_similarities(x):
    products = ops.einsum("...sd,...td->...st", x, x)
    lengths = ops.sqrt(ops.einsum("...sd,...sd->...s", x, x))
    return products / (lengths[..., :, None] * lengths[..., None, :])
