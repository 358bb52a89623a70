# Wrong answers to the exercises of notebook 04 that the checks must find; known mistakes with a name are in the catalogue.
# A cell has the set-up and the answers before it in the notebook. It must never earn all points, whatever the inputs.

# %% layer-norm: mean of the squares
def layer_norm(x, gamma, beta, epsilon=1e-12):
    mean = ops.mean(x, axis=-1, keepdims=True)
    variance = ops.mean(x * x, axis=-1, keepdims=True) - mean * mean
    return (x - mean) / ops.sqrt(variance + epsilon) * gamma + beta

# %% worst-point: the distance of the point from 0
def worst_point(x, exact, approximate):
    distance = ops.abs(exact - approximate)
    place = ops.argmax(distance)
    return ops.stack([ops.abs(x[place]), distance[place]])

# %% dropout: one mask for the batch
def dropout(x, rate, training):
    if not training:
        return x
    shape = x.shape if len(x.shape) < 3 else (1, *x.shape[1:])
    return ops.where(keras.random.uniform(shape) < rate, 0.0, x / (1 - rate))
