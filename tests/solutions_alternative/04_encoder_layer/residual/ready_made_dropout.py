def residual(x, found, rate, training):
    if training:
        found = keras.random.dropout(found, rate)
    return ops.add(x, found)
