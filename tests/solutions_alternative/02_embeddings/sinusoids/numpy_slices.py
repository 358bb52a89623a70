def sinusoids(length, d_e):
    table = np.zeros((length, d_e), "float32")
    angles = np.arange(length)[:, None] / 10000 ** (np.arange(0, d_e, 2) / d_e)
    table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)
    return ops.convert_to_tensor(table)
