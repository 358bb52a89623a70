def learning_rate(step, peak, warmup_steps, total_steps):
    def rate(s):
        if s >= total_steps:
            return 0.0
        if s < warmup_steps:
            return peak * (s + 1) / warmup_steps
        return peak * (total_steps - s) / (total_steps - warmup_steps)

    flat = [rate(float(s)) for s in np.ravel(np.asarray(step))]
    return ops.reshape(ops.convert_to_tensor(flat, "float32"), ops.shape(step))
