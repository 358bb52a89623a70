def attention_scores(q, k):
    axes = list(range(len(k.shape)))
    axes[-1], axes[-2] = axes[-2], axes[-1]
    return q @ ops.transpose(k, axes) / float(k.shape[-1]) ** 0.5
