def mh_attention(x, heads, w_o, b_o):
    return concat_heads([attention(x, *head) for head in heads]) @ w_o + b_o
