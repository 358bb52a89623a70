def sinusoids(length, d_e):
    turn = np.exp(1j * 10000.0 ** (-np.arange(0, d_e, 2) / d_e))  # one step of every hand, as complex numbers
    hands, rows = np.ones(d_e // 2, complex), []
    for _ in range(length):
        rows.append(np.stack([hands.imag, hands.real], axis=-1).reshape(-1))
        hands = hands * turn
    return ops.cast(ops.convert_to_tensor(np.array(rows)), "float32")
