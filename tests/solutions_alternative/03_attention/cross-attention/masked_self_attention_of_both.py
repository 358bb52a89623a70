def cross_attention(z, h, w_q, b_q, w_k, b_k, w_v, b_v):
    # one packed sequence [z; h]; only the tokens of h may be seen, and only the rows of z are kept
    both = ops.concatenate([z, h], axis=-2)
    asking, answering = z.shape[-2], h.shape[-2]
    seen = ops.arange(asking + answering) >= asking
    q, k, v = add_to_rows(both @ w_q, b_q), add_to_rows(both @ w_k, b_k), add_to_rows(both @ w_v, b_v)
    return masked_attention(q, k, v, seen)[..., :asking, :]
