def mh_attention(x, heads, w_o, b_o):
    y = attention(x, *heads[0])
    for parameters in heads[1:]:
        y = ops.concatenate((y, attention(x, *parameters)), axis=-1)
    return ops.add(ops.matmul(y, w_o), b_o)
