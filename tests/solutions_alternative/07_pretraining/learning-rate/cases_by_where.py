def learning_rate(step, peak, warmup_steps, total_steps):
    up = peak * (step + 1) / max(warmup_steps, 1)
    down = peak * (total_steps - step) / (total_steps - warmup_steps)
    rate = ops.where(step < warmup_steps, up, down)
    return ops.where(step >= total_steps, 0.0, rate)
