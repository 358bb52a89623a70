def learning_rate(step, peak, warmup_steps, total_steps):
    missing = ops.relu(warmup_steps - 1 - step) / max(warmup_steps, 1)
    past = ops.relu(step - warmup_steps) / (total_steps - warmup_steps)
    return peak * ops.relu(1 - missing - past)
