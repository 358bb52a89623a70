def learning_rate(step, peak, warmup_steps, total_steps):
    is_rising = ops.cast(step < warmup_steps, "float32")
    is_falling = (1 - is_rising) * ops.cast(step < total_steps, "float32")
    up = (step + 1) / (warmup_steps or 1)
    down = 1 - (step - warmup_steps) / (total_steps - warmup_steps)
    return peak * (is_rising * up + is_falling * down)
