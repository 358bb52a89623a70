def dropout(x, rate, training):
    share = 1 - rate if training else 1.0
    switch = ops.floor(share + keras.random.uniform(x.shape)) if training else 1.0
    return x / share * switch
