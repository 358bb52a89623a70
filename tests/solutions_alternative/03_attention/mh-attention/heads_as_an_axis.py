def mh_attention(x, heads, w_o, b_o):
    w_q, b_q, w_k, b_k, w_v, b_v = (ops.stack(parameters) for parameters in zip(*heads))
    q, k, v = (ops.einsum("...td,hda->...hta", x, w) + b[:, None, :] for w, b in ((w_q, b_q), (w_k, b_k), (w_v, b_v)))
    found = softmax_rows(attention_scores(q, k)) @ v  # (..., heads, tokens, d_mid)
    w_o = ops.reshape(w_o, (len(heads), -1, w_o.shape[-1]))
    return ops.einsum("...hto,hod->...td", found, w_o) + b_o
