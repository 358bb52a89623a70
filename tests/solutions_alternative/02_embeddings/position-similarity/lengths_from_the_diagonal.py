def cosine_similarities(x):
    products = x @ ops.swapaxes(x, -1, -2)
    lengths = ops.sqrt(ops.diagonal(products, axis1=-2, axis2=-1))
    return products / ops.expand_dims(lengths, -1) / ops.expand_dims(lengths, -2)
