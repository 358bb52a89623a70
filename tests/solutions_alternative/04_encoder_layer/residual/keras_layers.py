def residual(x, found, rate, training):
    chance = keras.layers.Dropout(rate)
    return keras.layers.Add()([x, chance(found, training=training)])
