def clip_gradients(gradients, most=1.0):
    squares = 0.0
    for gradient in gradients:
        squares = squares + ops.sum(gradient * gradient)
    if float(squares) <= most**2:
        return list(gradients)
    return [gradient * most / ops.sqrt(squares) for gradient in gradients]
