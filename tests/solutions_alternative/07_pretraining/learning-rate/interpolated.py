def learning_rate(step, peak, warmup_steps, total_steps):
    corners = [max(warmup_steps - 1, 0), warmup_steps, total_steps]
    rising = np.interp(np.asarray(step), [-1, max(warmup_steps, 1) - 1], [0.0, peak])
    falling = np.interp(np.asarray(step), corners, [peak, peak, 0.0])
    return ops.convert_to_tensor(np.minimum(rising, falling).astype("float32"))
