def sinusoids(length, d_e):
    column = np.arange(d_e)
    rates = 10000.0 ** (-(column - column % 2) / d_e)
    angles = np.outer(np.arange(length), rates) + (column % 2) * np.pi / 2
    return ops.convert_to_tensor(np.sin(angles).astype("float32"))
